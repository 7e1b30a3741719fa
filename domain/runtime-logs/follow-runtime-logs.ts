import type { Caller } from "../shared/caller.ts";
import { invalidEventId, type EventReader } from "../shared/stream-events.ts";
import type { ReferenceCountedInstances } from "../shared/reference-counted-instances.ts";
import { findLoggedApp } from "./find-logged-app.ts";
import { RuntimeLogTail, type RuntimeLogTailDeps } from "./runtime-log-tail.ts";
import type { RuntimeLogFilter } from "./runtime-log-view.ts";

export interface FollowRuntimeLogsDeps extends RuntimeLogTailDeps {
  /** The runtime logs that are followed in this process, by the id of the app. */
  runtimeLogTails: ReferenceCountedInstances<RuntimeLogTail>;
}

/**
 * Follows what an app prints, until the app is deleted. Without `since` and `lastEventId`, the stream begins with the next
 * record.
 *
 * @param lastEventId - the id of the last event that the reader has; `since` then has no effect
 * @returns `null` when the reader has the last event already
 * @throws {ServiceError} `not_found` when the organization has no such app; `invalid` for an id that no event has
 */
export async function followRuntimeLogs(
  deps: FollowRuntimeLogsDeps,
  { orgId }: Caller,
  { id, since, level = "debug" }: RuntimeLogFilter & { id: string },
  lastEventId: string | null,
): Promise<EventReader | null> {
  if (lastEventId !== null && !/^(?:[1-9]\d{0,15}|end)$/.test(lastEventId)) throw invalidEventId();
  const app = await findLoggedApp(deps.db, { orgId, id });
  if (lastEventId === "end") return null;
  const { instance: tail, release } = deps.runtimeLogTails.acquire(app.id, () => new RuntimeLogTail(deps, app));
  try {
    await tail.open();
  } catch (error) {
    release();
    throw error;
  }
  let last = lastEventId === null ? tail.idBefore(since) : Number(lastEventId);
  return {
    close: release,
    async next(signal) {
      const chunk = await tail.readAfter(last, level, signal);
      last = Number(chunk.at(-1)?.id);
      return chunk;
    },
  };
}
