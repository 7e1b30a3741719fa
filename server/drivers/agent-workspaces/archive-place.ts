import type { WorkspaceId } from "../../../domain/ports/agent-workspaces.ts";
import { isUuid } from "../../../domain/shared/ids.ts";

/** Of the archives that an earlier version of the service stored: before every other one. */
export const IMPORTED_TOKEN = 0;

/** The archives of each agent have their own bucket, so that they can be found without the row of the workspace. */
export function bucketOf({ orgId, agentId }: WorkspaceId): string {
  if (!isUuid(orgId) || !isUuid(agentId)) throw new Error("The id of a workspace consists of two UUIDs");
  return `workspace.${orgId}.${agentId}`.toLowerCase();
}

/** @returns `null` for a bucket of something else */
export function workspaceOf(bucket: string): WorkspaceId | null {
  const [kind, orgId, agentId, ...rest] = bucket.split(".");
  return kind === "workspace" && isUuid(orgId) && isUuid(agentId) && rest.length === 0 ? { orgId, agentId } : null;
}

/** The archives of an agent are never changed. Their keys sort by age. */
export function keyOf(fencingToken: number): string {
  return String(fencingToken).padStart(16, "0");
}
