import { type EntityManager, LockMode } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import type { Counter } from "../ports/counter.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import { PushDelivery, type PushResult } from "../push-records/push-delivery.entity.ts";
import { PushEndpoint } from "../push-records/push-endpoint.entity.ts";
import { RateLimited } from "../shared/errors.ts";
import { isUuid } from "../shared/ids.ts";
import { inTransaction, runForOrganization } from "../shared/transaction.ts";
import { decidePush, type PushDecision, toLine } from "./decide-push.ts";
import { openSecret, type PushEndpointDeps } from "./push-endpoint-rules.ts";
import type { ReportedDelivery } from "./reported-push.ts";

export interface ReceiveDeliveryDeps extends Pick<PushEndpointDeps, "pushSecretCipher"> {
  em: EntityManager;
  jobs: JobQueue;
  counter: Counter;
}

/** An endpoint that accepts deliveries, and the secret that signs them. */
export interface OpenEndpoint {
  id: string;
  orgId: string;
  secret: string;
}

/** What became of a delivery, for the git host. */
export interface ReceivedDelivery {
  /** The id of the recorded delivery. */
  id: string;
  result: PushResult;
  reason: string | null;
}

/** The deliveries that an endpoint accepts. Git hosts repeat no refused one, so this is more than any repository needs. */
const DELIVERY_LIMIT = { limit: 120, windowSeconds: 60 };
const MAX_ID_LENGTH = 200;
const MAX_LINE_LENGTH = 200;
/** More than a branch can have. */
const MAX_REF_LENGTH = 300;

/**
 * Finds the endpoint of a delivery and counts the delivery, before its body is read.
 *
 * @returns `null` for an endpoint that does not exist, or is switched off
 * @throws {RateLimited} when it gets too many deliveries
 */
export async function openEndpoint(deps: ReceiveDeliveryDeps, id: string): Promise<OpenEndpoint | null> {
  if (!isUuid(id)) return null;
  const endpoint = await deps.em.fork().findOne(PushEndpoint, { id, isEnabled: true });
  const secret = endpoint === null ? null : openSecret(deps, endpoint);
  if (endpoint === null || secret === null) return null;
  const { allowed, resetSeconds } = await deps.counter.consume({ key: `push:${endpoint.id}`, ...DELIVERY_LIMIT });
  if (!allowed) throw new RateLimited(`Too many deliveries. Try again in ${resetSeconds} seconds.`, resetSeconds);
  return { id: endpoint.id, orgId: endpoint.orgId, secret };
}

/**
 * Records a delivery whose signature is valid, and queues its deployment. Both commit together: what is accepted is not lost. A
 * delivery that was recorded before changes nothing.
 *
 * @returns `null` if the endpoint is gone
 */
export async function receiveDelivery(
  { em: root, jobs }: Pick<ReceiveDeliveryDeps, "em" | "jobs">,
  { id, orgId }: Pick<OpenEndpoint, "id" | "orgId">,
  reported: ReportedDelivery,
): Promise<ReceivedDelivery | null> {
  return runForOrganization(orgId, () =>
    inTransaction(root, async (em) => {
      // The deliveries of one app are recorded one after another.
      const endpoint = await em.findOne(
        PushEndpoint,
        { id, isEnabled: true },
        { lockMode: LockMode.PESSIMISTIC_WRITE },
      );
      const app = endpoint === null ? null : await em.findOne(App, { id: endpoint.appId, status: { $ne: "deleting" } });
      if (endpoint === null || !app?.repo || !app.branch) return null;
      const known = await findKnown(em, endpoint.appId, reported);
      if (known !== null) return toReceived(known);
      const { paths } = endpoint;
      const decision = decidePush(reported, { repo: app.repo, branch: endpoint.branch ?? app.branch, paths });
      const checked = await skipOutdated(em, app.id, decision);
      if (checked.result === "queued") await replaceWaiting(em, app.id);
      const delivery = record(em, { appId: app.id, orgId }, reported, checked);
      await em.flush();
      if (checked.result === "queued") await jobs.enqueue(em, "push", { deliveryId: delivery.id, orgId });
      return toReceived(delivery);
    }),
  );
}

function findKnown(
  em: EntityManager,
  appId: string,
  { source, externalId, bodyHash }: ReportedDelivery,
): Promise<PushDelivery | null> {
  const same = bodyHash === null ? [] : [{ bodyHash }];
  return em.findOne(PushDelivery, { appId, $or: [{ source, externalId: limitId(externalId) }, ...same] });
}

/** Git hosts may deliver two pushes in the wrong order: the one before the newest that has arrived must not follow it. */
async function skipOutdated(em: EntityManager, appId: string, decision: PushDecision): Promise<PushDecision> {
  const { ref, result } = decision;
  if (result !== "queued" || ref === null) return decision;
  const accepted = { appId, result: { $in: ["queued", "deployed"] as const } };
  const [newest] = await em.find(PushDelivery, accepted, { orderBy: { createdAt: "desc", id: "desc" }, limit: 1 });
  const isOutdated = newest?.commitBefore === ref.commit && newest?.commit !== ref.before;
  return isOutdated ? { ref, result: "skipped", reason: "A later push arrived before it." } : decision;
}

/** What still waits to be deployed is older. */
async function replaceWaiting(em: EntityManager, appId: string): Promise<void> {
  await em.nativeUpdate(
    PushDelivery,
    { appId, result: "queued" },
    { result: "skipped", reason: "A newer push replaced it before it was deployed." },
  );
}

function record(
  em: EntityManager,
  owner: { appId: string; orgId: string },
  { source, externalId, bodyHash, event }: ReportedDelivery,
  { ref, result, reason }: PushDecision,
): PushDelivery {
  return em.create(PushDelivery, {
    ...owner,
    ...{ source, bodyHash, result, reason },
    externalId: limitId(externalId),
    event: toLine(event, MAX_LINE_LENGTH),
    ref: ref === null ? null : toLine(ref.ref, MAX_REF_LENGTH),
    commitBefore: toCommit(ref?.before ?? null),
    commit: toCommit(ref?.commit ?? null),
    message: ref?.message === null || ref === null ? null : toLine(ref.message, MAX_LINE_LENGTH),
  });
}

function limitId(externalId: string): string {
  return toLine(externalId, MAX_ID_LENGTH);
}

function toCommit(commit: string | null): string | null {
  return commit !== null && /^[0-9a-f]{40,64}$/.test(commit) ? commit : null;
}

function toReceived({ id, result, reason }: PushDelivery): ReceivedDelivery {
  return { id, result, reason: reason ?? null };
}
