import { checkMayChange, findAgent } from "../agents/find-agent.ts";
import { WorkspaceInUse } from "../ports/agent-workspaces.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { AgentWorkspaceDeps } from "./list-workspace-files.ts";
import { fileNotFound } from "./read-workspace-file.ts";

export interface ClearedWorkspace {
  agent_id: string;
  removed_files: number;
}

/**
 * Removes a file or a folder from the workspace of an agent, or without a path everything. Waits for a running program.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent, or the workspace no such file or folder;
 *   `forbidden` for another agent than that of a gateway token; `conflict` when a program runs too long
 */
export async function clearWorkspace(
  { db, agentWorkspaces }: AgentWorkspaceDeps,
  caller: Caller,
  { id, path }: { id: string; path?: string | undefined },
): Promise<ClearedWorkspace> {
  const agent = await findAgent(db, caller, id);
  checkMayChange(caller, agent);
  try {
    const removed = await agentWorkspaces.clear({ orgId: caller.orgId, agentId: agent.id }, path ?? null);
    if (removed === null) throw fileNotFound();
    return { agent_id: agent.id, removed_files: removed };
  } catch (error) {
    if (!(error instanceof WorkspaceInUse)) throw error;
    const message = "A program of the agent is using the workspace. Try again when it has ended.";
    throw new ServiceError("conflict", message, { cause: error });
  }
}
