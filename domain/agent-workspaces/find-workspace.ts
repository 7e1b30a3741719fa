import { checkMayChange, findAgent } from "../agents/find-agent.ts";
import type { Db } from "../database-types.ts";
import type { ProgramWorkspace } from "../ports/code-runtime.ts";
import type { Caller } from "../shared/caller.ts";
import { reachesScope } from "../shared/scopes.ts";

/**
 * Finds the workspace for a program: that of the given agent, or of the agent of a gateway token. Other programs have none.
 * With a scope below `everything`, the program can read the workspace, and its changes are discarded.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `forbidden` for another agent than that of a
 *   gateway token
 */
export async function findProgramWorkspace(
  { db }: { db: Db },
  caller: Caller,
  agentId: string | undefined,
): Promise<ProgramWorkspace | undefined> {
  const { orgId, scope } = caller;
  const readOnly = !reachesScope(scope, "everything");
  // A gateway token is valid as long as its agent exists, so its own agent needs no query.
  if (agentId === undefined || agentId === caller.agentId)
    return caller.agentId === undefined ? undefined : { id: { orgId, agentId: caller.agentId }, readOnly };
  const agent = await findAgent(db, caller, agentId);
  checkMayChange(caller, agent);
  return { id: { orgId, agentId: agent.id }, readOnly };
}
