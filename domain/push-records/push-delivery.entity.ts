import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import { quotedList } from "../shared/quoted-list.ts";

/** Who reported a push: a kind of git host, or the service itself, which looks for new commits. */
export const PUSH_SOURCES = ["github", "gitlab", "gitea", "bitbucket", "poll"] as const;

export type PushSource = (typeof PUSH_SOURCES)[number];

/**
 * What became of a delivery. `queued`: it is about to make a deployment, or waits for the deploy limit. `deployed`: it has made one,
 * whose status says the rest. `skipped`: it asks for none. `refused`: it must not make one.
 */
export const PUSH_RESULTS = ["queued", "deployed", "skipped", "refused"] as const;

export type PushResult = (typeof PUSH_RESULTS)[number];

/** A delivery of a git host to the endpoint of an app. Of its content only these fields are kept, bounded and cleaned. */
export const PushDeliverySchema = defineEntity({
  name: "PushDelivery",
  tableName: "push_deliveries",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    appId: p.uuid(),
    orgId: p.uuid(),
    source: p.string().$type<PushSource>(),
    /** The id that the git host gave the delivery, by which it is recognized when it comes again. */
    externalId: p.text(),
    /** A hash of the body of a signed delivery: the signature does not cover the id. `null` if no signature covers the body. */
    bodyHash: p.string().nullable(),
    event: p.text(),
    ref: p.text().nullable(),
    /** The newest commit of the branch before the push, and after it. */
    commitBefore: p.string().nullable(),
    commit: p.string().nullable(),
    /** The first line of the message of the commit. */
    message: p.text().nullable(),
    result: p.string().$type<PushResult>(),
    /** Why there is no deployment (yet). */
    reason: p.text().nullable(),
    deploymentId: p.uuid().nullable(),
    /** Why the git host does not show the status of the deployment; `null` if it does, or was not told. */
    statusProblem: p.text().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
  },
  uniques: [{ properties: ["appId", "source", "externalId"] }, { properties: ["appId", "bodyHash"] }],
  indexes: [{ properties: ["appId", "createdAt"] }, { properties: ["deploymentId"] }, { properties: ["createdAt"] }],
  triggers: [
    {
      name: "notify_push",
      timing: "after",
      events: ["insert", "update"],
      /** Sends an event of the organization. A migration defines the function. */
      expression: `create trigger "notify_push" after insert or update of "result", "reason", "status_problem" on "push_deliveries" for each row execute function "notify_push"()`,
    },
  ],
  checks: [
    { name: "push_deliveries_source_check", expression: `source in (${quotedList(PUSH_SOURCES)})` },
    { name: "push_deliveries_result_check", expression: `result in (${quotedList(PUSH_RESULTS)})` },
  ],
});

export class PushDelivery extends PushDeliverySchema.class {}
PushDeliverySchema.setClass(PushDelivery);
