import type { Db } from "../database-types.ts";
import type { AgentWorkspaces, WorkspaceId } from "../ports/agent-workspaces.ts";

/** Agents per query. */
const BATCH_SIZE = 1000;

/**
 * Removes the workspaces of agents that do not exist: those that a program saved while its agent was deleted, or that a crash
 * left. A workspace is stored after its agent, so its agent is not about to be created.
 *
 * @returns the agents whose workspaces were removed
 */
export async function removeUnusedWorkspaces({
  db,
  agentWorkspaces,
}: {
  db: Db;
  agentWorkspaces: AgentWorkspaces;
}): Promise<string[]> {
  const stored = await agentWorkspaces.listAll();
  const removed: string[] = [];
  for (let start = 0; start < stored.length; start += BATCH_SIZE) {
    const batch = stored.slice(start, start + BATCH_SIZE);
    const existing = await selectExisting(db, batch);
    for (const id of batch.filter(({ agentId }) => !existing.has(agentId))) {
      await agentWorkspaces.remove(id);
      removed.push(id.agentId);
    }
  }
  return removed;
}

async function selectExisting(db: Db, workspaces: readonly WorkspaceId[]): Promise<Set<string>> {
  const ids = workspaces.map(({ agentId }) => agentId);
  const rows = await db.selectFrom("agents").select("id").where("id", "in", ids).execute();
  return new Set(rows.map(({ id }) => id));
}
