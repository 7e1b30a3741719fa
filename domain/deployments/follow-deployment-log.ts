import { appNotFound } from "../apps/get-app.ts";
import type { ChangeFeed } from "../ports/change-feed.ts";
import type { Caller } from "../shared/caller.ts";
import { invalidEventId, type EventReader } from "../shared/stream-events.ts";
import { ReferenceCountedInstances } from "../shared/reference-counted-instances.ts";
import { DeploymentLogTail, type FollowedDeployment, type LogTailDeps } from "./deployment-log-tail.ts";
import { deploymentNotFound } from "./list-deployments.ts";
import { selectLog } from "./read-deployment-log.ts";

export interface FollowLogDeps extends LogTailDeps {
  logTails: DeploymentLogTails;
}

/** The logs of deployments that are followed in this process. */
export class DeploymentLogTails implements Disposable {
  readonly #deps: LogTailDeps;
  readonly #tails = new ReferenceCountedInstances<DeploymentLogTail>();
  readonly #unlisten: () => void;

  /** @param logChanges - announces the ids of deployments */
  constructor(deps: LogTailDeps, logChanges: ChangeFeed) {
    this.#deps = deps;
    this.#unlisten = logChanges.listen(
      (id) => this.#tails.get(id)?.refreshSoon(),
      () => {
        for (const tail of this.#tails.all()) tail.refreshSoon();
      },
    );
  }

  acquire(deployment: FollowedDeployment): { instance: DeploymentLogTail; release: () => void } {
    return this.#tails.acquire(deployment.id, () => new DeploymentLogTail(this.#deps, deployment));
  }

  [Symbol.dispose](): void {
    this.#unlisten();
    this.#tails[Symbol.dispose]();
  }
}

/**
 * Follows the log of the newest deployment of an app, or of the one with the number, until the deployment has ended.
 *
 * @param lastEventId - the id of the last event that the reader has. With an id of another deployment, the stream begins
 *   with the first line.
 * @returns `null` when the reader has the last event already
 * @throws {ServiceError} `not_found` when the organization has no such app, or the app has no such deployment; `invalid`
 *   for an id that no event has
 */
export async function followDeploymentLog(
  deps: FollowLogDeps,
  { orgId }: Caller,
  { id: appId, number }: { id: string; number?: number | undefined },
  lastEventId: string | null,
): Promise<EventReader | null> {
  const after = parseEventId(lastEventId);
  const row = await selectLog(deps.db, { orgId, appId }, number)
    .select(["deployments.id", "deployments.number"])
    .executeTakeFirst();
  if (row === undefined) throw number === undefined ? appNotFound() : deploymentNotFound();
  const position = after?.number === row.number ? after.position : 0;
  if (position === null) return null;
  return openStream(deps.logTails, { id: row.id, number: row.number, logKey: row.log_key }, position);
}

async function openStream(
  tails: DeploymentLogTails,
  deployment: FollowedDeployment,
  start: number,
): Promise<EventReader> {
  const { instance: tail, release } = tails.acquire(deployment);
  let position = start;
  try {
    await tail.refresh();
  } catch (error) {
    release();
    throw error;
  }
  return {
    close: release,
    async next(signal) {
      const chunk = await tail.readAfter(position, signal);
      position = parseEventId(chunk.at(-1)?.id ?? null)?.position ?? position;
      return chunk;
    },
  };
}

const EVENT_ID = /^([1-9]\d{0,8})-(end|\d{1,15})$/;

/** `position` is `null` for the event `end`. */
function parseEventId(id: string | null): { number: number; position: number | null } | null {
  if (id === null) return null;
  const [, number, position] = EVENT_ID.exec(id) ?? [];
  if (number === undefined || position === undefined) throw invalidEventId();
  return { number: Number(number), position: position === "end" ? null : Number(position) };
}
