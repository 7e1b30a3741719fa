import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import { type Runtime, RUNTIMES } from "../ports/bundler.ts";
import { quotedList } from "../shared/quoted-list.ts";
import { DEPLOYMENT_STATUSES, type DeploymentStatus } from "./deployment-status.ts";
import type { StartedStep } from "./step-times.ts";

/** What starts a deployment. */
export const DEPLOYMENT_TRIGGERS = ["deploy", "redeploy", "rollback", "push", "promotion"] as const;

export type DeploymentTrigger = (typeof DEPLOYMENT_TRIGGERS)[number];

/** One attempt to put one commit of an app live. */
export const DeploymentSchema = defineEntity({
  name: "Deployment",
  tableName: "deployments",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    appId: p.uuid(),
    orgId: p.uuid(),
    /** 1 for the first deployment of the app, then 2, 3, ... */
    number: p.integer(),
    trigger: p.string().$type<DeploymentTrigger>(),
    /** `null` for a deployment of an archive. */
    repo: p.string().nullable(),
    /** The deployed archive; `null` for a deployment of a repository. The archive itself may be gone. */
    archiveId: p.string().nullable(),
    /** The connected git host that has the repository; `null` for the service's own. */
    gitHost: p.text().nullable(),
    /** `null` for a deployment of an archive. */
    branch: p.string().nullable(),
    /** The request named no branch, so a repository that has no such branch deploys its default branch. */
    branchIsDefault: p.boolean().default(false),
    /** The commit that is deployed, or the beginning of the id of the archive. The clone records it, the rollback, or the request. */
    commit: p.string().nullable(),
    /** The commit that the request names; `null` for the newest one of the branch. */
    requestedCommit: p.string().nullable(),
    customization: p.text().nullable(),
    /** The folder that is built. If the app names none, the build records the one that it found; `null` for the root. */
    rootDirectory: p.string().nullable(),
    /** Whether the build script may connect to public addresses. */
    buildNetwork: p.boolean().default(false),
    /** How the app has to run; `null` to detect it. */
    requestedRuntime: p.string().$type<Runtime>().nullable(),
    /** How the built version runs; `null` until it is built. */
    runtime: p.string().$type<Runtime>().nullable(),
    /** The user who requested the deployment; `null` when the credential belongs to no user. */
    createdBy: p.uuid().nullable(),
    /** For a rollback: the deployment whose artifact goes live again. */
    rollbackToId: p.uuid().nullable(),
    /** For a promotion: the deployment of another environment whose bundle goes live here. It may be gone. */
    promotedFromId: p.uuid().nullable(),
    /** For a promotion: the name of that environment. */
    promotedFrom: p.string().nullable(),
    status: p.string().$type<DeploymentStatus>(),
    statusMessage: p.text().nullable(),
    error: p.text().nullable(),
    /**
     * Key of the log in the bucket of all logs. It is stored, because an earlier version of the service named the keys
     * differently.
     */
    logKey: p.string(),
    /** Where the built bundle is in the app's bucket of artifacts; `null` while none is kept. Several rollbacks may share one. */
    artifactKey: p.string().nullable(),
    /** When its owner canceled it. The worker then ends it; without a worker, the next claim does. */
    cancelRequestedAt: p.datetime(3).nullable(),
    /** How often a worker has claimed this deployment. */
    attempts: p.integer().default(0),
    /**
     * The fencing token of the newest lease on this deployment; 0 before the first claim. It is the `generation` of the live
     * deployment's script. A worker that restores this script writes its own token here.
     */
    fencingToken: p.integer().default(0),
    /** When the worker that holds the lease last renewed it; `null` while no worker holds it. */
    leaseRenewedAt: p.datetime(3).nullable(),
    /** The steps of the newest attempt so far; `null` before the first one. */
    steps: p.json<readonly StartedStep[]>().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    /** The first claim. */
    startedAt: p.datetime(3).nullable(),
    /** When it became `ready`, `failed` or `canceled`, or `superseded` before it started; `null` while in progress. */
    finishedAt: p.datetime(3).nullable(),
  },
  uniques: [{ properties: ["appId", "number"] }],
  indexes: [{ properties: ["status"] }, { properties: ["archiveId"] }],
  triggers: [
    {
      name: "notify_deployment",
      timing: "after",
      events: ["insert", "update"],
      /** Sends an event of the organization. A migration defines the function. */
      expression: `create trigger "notify_deployment" after insert or update of "status", "status_message" on "deployments" for each row execute function "notify_deployment"()`,
    },
  ],
  checks: [
    { name: "deployments_status_check", expression: `status in (${quotedList(DEPLOYMENT_STATUSES)})` },
    { name: "deployments_requested_runtime_check", expression: `requested_runtime in (${quotedList(RUNTIMES)})` },
    { name: "deployments_runtime_check", expression: `runtime in (${quotedList(RUNTIMES)})` },
    { name: "deployments_trigger_check", expression: `"trigger" in (${quotedList(DEPLOYMENT_TRIGGERS)})` },
  ],
});

export class Deployment extends DeploymentSchema.class {}
DeploymentSchema.setClass(Deployment);
