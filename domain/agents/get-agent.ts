import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { agentNotFound, type AgentView, toAgentView } from "./agent-view.ts";
import type { ServerKind } from "./server-status.ts";

export interface AgentDetail extends AgentView {
  server_id: string;
  server_name: string;
  server_kind: ServerKind;
  /** Whether it is the main agent of its server. */
  is_main: boolean;
  created_at: string;
}

/**
 * Returns an agent and its server.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent
 */
export async function getAgent({ db }: { db: Db }, { orgId }: Caller, id: string): Promise<AgentDetail> {
  const agent = await db
    .selectFrom("agents as agent")
    .innerJoin("agent_servers as server", "server.id", "agent.server_id")
    .select(["agent.id", "agent.name", "agent.model", "agent.server_id", "agent.is_main", "agent.created_at"])
    .select(["server.name as server_name", "server.kind as server_kind"])
    .where("agent.id", "=", id)
    .where("agent.org_id", "=", orgId)
    .executeTakeFirst();
  if (agent === undefined) throw agentNotFound();
  const { server_id, server_name, server_kind, is_main, created_at } = agent;
  const server = { server_id, server_name, server_kind };
  return { ...toAgentView(agent), ...server, is_main, created_at: toIsoTimestamp(created_at) };
}
