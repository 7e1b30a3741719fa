import { checkMayChange } from "../agents/find-agent.ts";
import { queryBuilderOf } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { inTransaction } from "../shared/transaction.ts";
import { lockSession } from "./find-session.ts";
import type { ChangeSessionDeps } from "./open-session.ts";
import { type SessionView, toSessionView } from "./session-view.ts";

/**
 * Closes a session, so that no entries are appended any more. Closing it again changes nothing.
 *
 * @throws {ServiceError} `not_found` when the organization has no such session; `forbidden` for a gateway token of another
 *   agent
 */
export async function closeSession({ em: root }: ChangeSessionDeps, caller: Caller, id: string): Promise<SessionView> {
  return inTransaction(root, async (em) => {
    const tx = queryBuilderOf(em);
    const session = await lockSession(tx, caller, id);
    checkMayChange(caller, { id: session.agent_id });
    if (session.closed_at !== null) return toSessionView(session);
    const closed = await tx
      .updateTable("sessions")
      .set({ closed_at: new Date() })
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
    return toSessionView(closed);
  });
}
