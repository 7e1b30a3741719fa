import { findAgent } from "../agents/find-agent.ts";
import type { Db } from "../database-types.ts";
import { type AgentWorkspaces, WORKSPACE_LIMITS, type WorkspaceFile } from "../ports/agent-workspaces.ts";
import type { Caller } from "../shared/caller.ts";
import { invalidCursor } from "../shared/keyset-cursor.ts";

export interface AgentWorkspaceDeps {
  db: Db;
  agentWorkspaces: AgentWorkspaces;
}

export interface WorkspaceFileView {
  path: string;
  size_bytes: number;
  modified_at: string;
}

export interface WorkspacePage {
  agent_id: string;
  /** Of the whole workspace. */
  file_count: number;
  folder_count: number;
  size_bytes: number;
  files: WorkspaceFileView[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

/**
 * Lists the files in the workspace of an agent by path.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `invalid` for a cursor that this service did
 *   not return
 */
export async function listWorkspaceFiles(
  { db, agentWorkspaces }: AgentWorkspaceDeps,
  caller: Caller,
  { id, limit, cursor }: { id: string; limit: number; cursor?: string | undefined },
): Promise<WorkspacePage> {
  const after = cursor === undefined ? "" : decodePathCursor(cursor);
  const agent = await findAgent(db, caller, id);
  const { files, folders } = await agentWorkspaces.list({ orgId: caller.orgId, agentId: agent.id });
  const following = files.filter(({ path }) => path > after);
  const page = following.slice(0, limit);
  const last = page.at(-1);
  return {
    agent_id: agent.id,
    file_count: files.length,
    folder_count: folders,
    size_bytes: files.reduce((sum, { size }) => sum + size, 0),
    files: page.map(toFileView),
    next_cursor: following.length > limit && last !== undefined ? encodePathCursor(last.path) : null,
  };
}

export function toFileView({ path, size, modifiedAt }: WorkspaceFile): WorkspaceFileView {
  return { path, size_bytes: size, modified_at: modifiedAt.toISOString() };
}

function encodePathCursor(path: string): string {
  return Buffer.from(path).toString("base64url");
}

function decodePathCursor(cursor: string): string {
  const path = Buffer.from(cursor, "base64url").toString();
  const isPath = path !== "" && Buffer.byteLength(path) <= WORKSPACE_LIMITS.pathBytes;
  if (!isPath || encodePathCursor(path) !== cursor) throw invalidCursor();
  return path;
}
