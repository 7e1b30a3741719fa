import { randomUUID } from "node:crypto";
import type { SqlEntityManager } from "@mikro-orm/sql";
import type { ChangeFeed } from "../ports/change-feed.ts";
import { lockOfTokens } from "../tokens/token-quota.ts";
import { Organization } from "../organizations/organization.entity.ts";
import type { Plans } from "../plans/plans.ts";
import type { Caller } from "../shared/caller.ts";
import { checkDisplayName } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { AgentServer } from "./agent-server.entity.ts";
import { type ServerView, toConnectionView } from "./agent-view.ts";
import { checkConnection, type ConnectionDeps, sealToken } from "./gateway-connection-rules.ts";
import { addAgent, type CreateAgentDeps, type ProvisionedAgent } from "./create-agent.ts";
import type { ServerKind } from "./server-status.ts";

export interface CreateServerDeps extends CreateAgentDeps, ConnectionDeps {
  plans: Plans;
  /** Announces changes of servers whose agents are in a gateway. */
  serverChanges: ChangeFeed;
}

export interface CreateServer {
  name: string;
  /** By default `managed`. */
  kind?: ServerKind | undefined;
  /** Of a gateway. */
  url?: string | undefined;
  /** Of a gateway. No response contains it. */
  token?: string | undefined;
  /** The name of the main agent of a managed server; by default `Main`. */
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
 * Creates a server with its main agent. If its agents are in a gateway, the service connects to the gateway afterwards: until
 * then the server is `connecting`, and its main agent stands for the one of the gateway.
 *
 * @throws {ServiceError} `invalid` for a value that is not allowed; `conflict` when the organization has too many servers or
 *   tokens; `plan_limit` when its plan allows no more gateways
 */
export async function createServer(
  deps: CreateServerDeps,
  { orgId }: Caller,
  request: CreateServer,
): Promise<ProvisionedServer> {
  const id = randomUUID();
  const { name, agent_name: agentName = DEFAULT_AGENT_NAME, model } = request;
  checkDisplayName(name);
  const connection = prepareConnection(deps, id, request);
  const created = await inLockedTransaction(deps.em, [lockOfServers(orgId), lockOfTokens(orgId)], async (em) => {
    if ((await em.count(AgentServer, { orgId })) >= MAX_SERVERS)
      throw new ServiceError(
        "conflict",
        `An organization can have at most ${MAX_SERVERS} servers. Delete unused servers, then try again.`,
      );
    if (connection !== null) await checkRoomForGateway(em, deps.plans, orgId);
    const server = em.create(AgentServer, { id, orgId, name, ...connection });
    const newAgent = { orgId, serverId: id, name: agentName, model, isMain: true };
    const { server_id: _, ...agent } = await addAgent(em, deps.gatewayUrl(), newAgent);
    return { server_id: id, name, ...toConnectionView(server), agent: { ...agent, specialized_agents: [] } };
  });
  if (connection !== null) deps.serverChanges.announce(id);
  return created;
}

/** @throws {ServiceError} `plan_limit` */
async function checkRoomForGateway(em: SqlEntityManager, plans: Plans, orgId: string): Promise<void> {
  const plan = (await em.findOne(Organization, { id: orgId }))?.plan;
  const { gateways } = plans.getLimits(plan);
  if ((await em.count(AgentServer, { orgId, kind: { $ne: "managed" } })) < gateways) return;
  throw new ServiceError(
    "plan_limit",
    `The plan "${plans.resolveName(plan)}" allows ${gateways} servers with an OpenClaw gateway. Delete one, or move to a larger plan.`,
  );
}

/** @returns `null` for a managed server */
function prepareConnection(
  deps: ConnectionDeps,
  id: string,
  { kind = "managed", url, token, agent_name: agentName, model }: CreateServer,
) {
  if (kind === "managed") {
    if (url === undefined && token === undefined) return null;
    throw new ServiceError("invalid", `url and token: only a server with the kind "openclaw" has them.`);
  }
  if (url === undefined || token === undefined)
    throw new ServiceError("invalid", "url and token: are required for an OpenClaw server.");
  if (agentName !== undefined || model !== undefined)
    throw new ServiceError("invalid", "agent_name and model: the gateway has them. Change them in OpenClaw.");
  checkConnection(deps, { url, token });
  return { kind, url, sealedToken: sealToken(deps, id, token), status: "connecting" } as const;
}

/** The lock of transactions that count the servers of an organization: the later one sees what the earlier one has changed. */
export function lockOfServers(orgId: string): string {
  return `agent servers ${orgId}`;
}
