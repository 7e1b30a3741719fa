import type { EntityManager } from "@mikro-orm/core";
import { checkMayChange } from "../agents/find-agent.ts";
import { type Db, queryBuilderOf } from "../database-types.ts";
import { BATCHES_OF_REQUEST, deleteSessions, removeDeletedEntries } from "../retention/deleted-sessions.ts";
import type { Caller } from "../shared/caller.ts";
import { inTransaction } from "../shared/transaction.ts";
import { lockSession } from "./find-session.ts";

export interface DeleteSessionDeps {
  em: EntityManager;
  db: Db;
}

/**
 * Deletes a session with its transcript. The usage that it was counted in stays.
 *
 * @throws {ServiceError} `not_found` when the organization has no such session; `forbidden` for a gateway token of another
 *   agent
 */
export async function deleteSession(
  { em: root, db }: DeleteSessionDeps,
  caller: Caller,
  id: string,
): Promise<{ status: "deleted" }> {
  await inTransaction(root, async (em) => {
    const tx = queryBuilderOf(em);
    const session = await lockSession(tx, caller, id);
    checkMayChange(caller, { id: session.agent_id });
    await deleteSessions(tx, "id", [id]);
  });
  await removeDeletedEntries(db, { maxBatches: BATCHES_OF_REQUEST });
  return { status: "deleted" };
}
