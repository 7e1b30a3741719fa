import { randomUUID } from "node:crypto";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { queryBuilderOf } from "../database-types.ts";
import { acquireAdvisoryLock } from "../shared/advisory-lock.ts";
import type { Caller } from "../shared/caller.ts";
import { checkDisplayName } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { AgentServer } from "./agent-server.entity.ts";
import type { ServerView } from "./agent-view.ts";
import { addAgent, type CreateAgentDeps, type ProvisionedAgent } from "./create-agent.ts";

export interface CreateServer {
  name: string;
  /** The name of the main agent; by default `Main`. */
  agent_name?: string | undefined;
  model?: string | undefined;
}

/** A new server. Only this result contains the gateway token of its main agent. */
export type ProvisionedServer = Omit<ServerView, "agent"> & {
  agent: ServerView["agent"] & Pick<ProvisionedAgent, "gateway_token" | "client_configurations">;
};

const MAX_SERVERS = 1000;
const DEFAULT_AGENT_NAME = "Main";

/**
 * Creates a server with its main agent.
 *
 * @throws {ServiceError} `invalid` for a name that is not allowed; `conflict` when the organization has too many servers or
 *   tokens
 */
export async function createServer(
  deps: CreateAgentDeps,
  caller: Caller,
  { name, agent_name: agentName = DEFAULT_AGENT_NAME, model }: CreateServer,
): Promise<ProvisionedServer> {
  checkDisplayName(name);
  return (deps.em as SqlEntityManager).fork().transactional(async (em) => {
    if ((await countServersLocked(em, caller.orgId)) >= MAX_SERVERS)
      throw new ServiceError(
        "conflict",
        `An organization can have at most ${MAX_SERVERS} servers. Delete unused servers, then try again.`,
      );
    const server = em.create(AgentServer, { id: randomUUID(), orgId: caller.orgId, name });
    const request = { orgId: caller.orgId, serverId: server.id, name: agentName, model, isMain: true };
    const { server_id: _, ...agent } = await addAgent(em, deps.gatewayUrl(), request);
    return { server_id: server.id, name, status: "ready", agent: { ...agent, specialized_agents: [] } };
  });
}

/**
 * Counts the servers of an organization. Until the transaction of `em` ends, other transactions that count them wait, so
 * that of simultaneous requests the later one sees what the earlier one has changed.
 */
export async function countServersLocked(em: SqlEntityManager, orgId: string): Promise<number> {
  await acquireAdvisoryLock(queryBuilderOf(em), `agent servers ${orgId}`);
  return em.count(AgentServer, { orgId });
}
