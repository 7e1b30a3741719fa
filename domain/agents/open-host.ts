import type { Db } from "../database-types.ts";
import type { AgentHost, AgentHosts } from "../ports/agent-host.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { ValueCipher } from "../shared/value-cipher.ts";
import { serverNotFound } from "./agent-view.ts";
import { type FoundAgent, findAgent } from "./find-agent.ts";
import type { FoundServer } from "./find-server.ts";
import { GATEWAY_COLUMNS, toHostSettings } from "./gateway-settings.ts";

export interface ManagedServer {
  id: string;
  orgId: string;
}

/** How an operation reaches agents, wherever they are. */
export interface OpenHostDeps {
  db: Db;
  /** Returns the host of a server whose agents the service itself keeps. */
  managedHost(server: ManagedServer): AgentHost;
  /** The hosts outside of the service. */
  hosts: Pick<AgentHosts, "open">;
  tokenCipher: ValueCipher;
}

/**
 * Returns the host of a server of the caller's organization. It does not wait for a connection.
 *
 * @throws {ServiceError} `not_found` for a server that has been deleted meanwhile
 */
export async function openHost(
  { db, managedHost, hosts, tokenCipher }: OpenHostDeps,
  { orgId }: Caller,
  server: FoundServer,
): Promise<AgentHost> {
  if (server.kind === "managed") return managedHost({ id: server.id, orgId });
  const row = await db
    .selectFrom("agent_servers as server")
    .select(GATEWAY_COLUMNS)
    .where("server.id", "=", server.id)
    .where("server.org_id", "=", orgId)
    .executeTakeFirst();
  if (row === undefined) throw serverNotFound();
  return hosts.open(toHostSettings(row, tokenCipher));
}

export interface OpenedAgent {
  agent: FoundAgent;
  host: AgentHost;
  /** Identifies the agent on the host. */
  hostedId: string;
}

/**
 * Finds the agent that a call is about, as `findAgent` does, and its host.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `unavailable` before the first contact with
 *   the gateway of the agent
 */
export async function openAgent(deps: OpenHostDeps, caller: Caller, agentId: string | undefined): Promise<OpenedAgent> {
  const agent = await findAgent(deps.db, caller, agentId);
  const hostedId = hostedIdOf(agent);
  const host = await openHost(deps, caller, { id: agent.serverId, kind: agent.kind });
  return { agent, host, hostedId };
}

export function hostedIdOf({ id, kind, externalId }: FoundAgent): string {
  if (kind === "managed") return id;
  if (externalId !== null) return externalId;
  throw new ServiceError(
    "unavailable",
    "The gateway of this agent was not reached yet. service_list_agents shows the status of its server. Try again later.",
  );
}

/** Returns the ids of a server's agents by their ids on the host. */
export async function selectAgentIds(db: Db, serverId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom("agents")
    .select(["id", "external_id as externalId"])
    .where("server_id", "=", serverId)
    .execute();
  return new Map(rows.map(({ id, externalId }) => [externalId ?? id, id]));
}
