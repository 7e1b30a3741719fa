import { type EntityManager, LockMode } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { queryBuilderOf } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { checkDisplayName } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { inLockedTransaction } from "../shared/transaction.ts";
import { mintToken } from "../tokens/mint-token.ts";
import { lockOfTokens, reserveTokenSlot } from "../tokens/token-quota.ts";
import { AgentServer } from "./agent-server.entity.ts";
import { Agent } from "./agent.entity.ts";
import { type AgentView, checkIsManaged, serverNotFound } from "./agent-view.ts";
import { type ClientConfigurations, clientConfigurations } from "./client-configurations.ts";

export interface CreateAgentDeps {
  em: EntityManager;
  /** The URL of the tool gateway, for the configuration of clients. */
  gatewayUrl(): string;
}

export interface CreateAgent {
  server_id: string;
  name: string;
  model?: string | undefined;
}

/** A new agent. Only this result contains its gateway token. */
export interface ProvisionedAgent extends AgentView {
  server_id: string;
  gateway_token: string;
  client_configurations: ClientConfigurations;
}

const MAX_AGENTS_OF_SERVER = 100;
const MAX_MODEL_LENGTH = 100;

/**
 * Creates a specialized agent of a server, with its gateway token.
 *
 * @throws {ServiceError} `invalid` for a name that is not allowed; `not_found` when the organization has no such server;
 *   `conflict` when the server has too many agents, or the organization too many tokens
 */
export async function createAgent(
  deps: CreateAgentDeps,
  { orgId }: Caller,
  { server_id: serverId, name, model }: CreateAgent,
): Promise<ProvisionedAgent> {
  return inLockedTransaction(deps.em, [lockOfTokens(orgId)], async (em) => {
    // The lock makes simultaneous requests for the same server count each other's agents.
    const server = await em.findOne(AgentServer, { id: serverId, orgId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (server === null) throw serverNotFound();
    checkIsManaged(server);
    if ((await em.count(Agent, { serverId })) >= MAX_AGENTS_OF_SERVER)
      throw new ServiceError(
        "conflict",
        `A server can have at most ${MAX_AGENTS_OF_SERVER} agents. Delete unused agents, or create another server.`,
      );
    return addAgent(em, deps.gatewayUrl(), { orgId, serverId, name, model, isMain: false });
  });
}

interface NewAgent {
  orgId: string;
  serverId: string;
  name: string;
  model: string | undefined;
  isMain: boolean;
}

/** Adds an agent and its gateway token in the transaction of `em`, which holds `lockOfTokens`. */
export async function addAgent(em: SqlEntityManager, gatewayUrl: string, agent: NewAgent): Promise<ProvisionedAgent> {
  checkDisplayName(agent.name);
  const model = agent.model ?? null;
  checkModel(model);
  const record = em.create(Agent, { ...agent, model });
  const owner = { kind: "gateway_token", orgId: agent.orgId, userId: null } as const;
  await reserveTokenSlot(queryBuilderOf(em), owner);
  const { token } = mintToken(em, { ...owner, name: agent.name, agentId: record.id });
  await em.flush();
  return {
    agent_id: record.id,
    server_id: agent.serverId,
    name: agent.name,
    model,
    gateway_token: token,
    client_configurations: clientConfigurations(gatewayUrl, token),
  };
}

/** @throws {ServiceError} `invalid` */
export function checkModel(model: string | null): void {
  if (model === null || (/^[\x21-\x7e]+$/.test(model) && model.length <= MAX_MODEL_LENGTH)) return;
  throw new ServiceError(
    "invalid",
    `model: must have 1 to ${MAX_MODEL_LENGTH} visible ASCII characters. Example: "claude-sonnet-5".`,
  );
}
