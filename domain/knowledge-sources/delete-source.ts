import { pollUntil } from "../shared/back-off.ts";
import type { Caller } from "../shared/caller.ts";
import { markDeleted, type ManageSourcesDeps } from "./manage-sources.ts";

export interface DeleteSourceDeps extends ManageSourcesDeps {
  /** How long a deletion waits for its job, in milliseconds. */
  teardownWaitMs: number;
}

/**
 * Deletes a source with its documents. It waits for the job that removes them; the job of a large source continues after the
 * response.
 *
 * @throws {ServiceError} `not_found`
 */
export async function deleteSource(deps: DeleteSourceDeps, caller: Caller, id: string): Promise<{ status: "deleted" }> {
  await markDeleted(deps, caller, id);
  await pollUntil(
    () => deps.db.selectFrom("knowledge_sources").select("id").where("id", "=", id).executeTakeFirst(),
    (row) => row === undefined,
    Date.now() + deps.teardownWaitMs,
  );
  return { status: "deleted" };
}
