import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { agentNotFound, serverNotFound } from "./agent-view.ts";
import { findAgent, type FoundAgent } from "./find-agent.ts";

export interface FoundServer {
  id: string;
  kind: string;
}

/**
 * Finds the server that a call is about: the given one; without it, the server of a gateway token's agent, and otherwise the
 * organization's first server.
 *
 * @throws {ServiceError} `not_found` when the organization has no such server
 */
export async function findServer(db: Db, caller: Caller, serverId: string | undefined): Promise<FoundServer> {
  if (serverId === undefined) {
    const agent = await findAgent(db, caller, undefined);
    return { id: agent.serverId, kind: agent.kind };
  }
  const server = await db
    .selectFrom("agent_servers")
    .select(["id", "kind"])
    .where("id", "=", serverId)
    .where("org_id", "=", caller.orgId)
    .executeTakeFirst();
  if (server === undefined) throw serverNotFound();
  return server;
}

/**
 * Finds the server that a call is about, and the agent if the call is about one: then the server is that of the agent.
 *
 * @throws {ServiceError} `not_found` when the organization has no such server, or the server no such agent
 */
export async function findServerAndAgent(
  db: Db,
  caller: Caller,
  { serverId, agentId }: { serverId: string | undefined; agentId: string | undefined },
): Promise<{ server: FoundServer; agent: FoundAgent | null }> {
  if (agentId === undefined) return { server: await findServer(db, caller, serverId), agent: null };
  const agent = await findAgent(db, caller, agentId);
  if (serverId !== undefined && (await findServer(db, caller, serverId)).id !== agent.serverId) throw agentNotFound();
  return { server: { id: agent.serverId, kind: agent.kind }, agent };
}
