import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { agentNotFound } from "./agent-view.ts";

export interface FoundAgent {
  id: string;
  serverId: string;
  /** The kind of its server. */
  kind: string;
  /** Identifies the agent on the gateway of its server; `null` for an agent of a managed server, and before the first contact. */
  externalId: string | null;
  createdAt: unknown;
}

/**
 * Finds the agent that a call is about: the given one; without it, the agent of a gateway token, and otherwise the main
 * agent of the organization's first server.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent
 */
export async function findAgent(db: Db, caller: Caller, agentId: string | undefined): Promise<FoundAgent> {
  const id = agentId ?? caller.agentId;
  const agents = db
    .selectFrom("agents as agent")
    .innerJoin("agent_servers as server", "server.id", "agent.server_id")
    .select(["agent.id", "agent.server_id as serverId", "agent.external_id as externalId", "server.kind"])
    .select("agent.created_at as createdAt")
    .where("agent.org_id", "=", caller.orgId);
  const query =
    id !== undefined
      ? agents.where("agent.id", "=", id)
      : agents
          .where("server.org_id", "=", caller.orgId)
          .where("agent.is_main", "=", true)
          .orderBy("server.created_at")
          .orderBy("server.id")
          .limit(1);
  const agent = await query.executeTakeFirst();
  if (agent === undefined) throw agentNotFound();
  return agent;
}

/**
 * Finds the agent that a call is about, as `findAgent` does. With a gateway token, an agent finds only itself.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `forbidden` for a gateway token of another agent
 */
export async function findOwnAgent(db: Db, caller: Caller, agentId: string | undefined): Promise<FoundAgent> {
  const agent = await findAgent(db, caller, agentId);
  if (caller.agentId === undefined || caller.agentId === agent.id) return agent;
  throw new ServiceError(
    "forbidden",
    "A gateway token reaches only what belongs to its own agent here. Omit agent_id, or use the personal access token of a user.",
  );
}

/**
 * Checks that the caller may change what belongs to an agent. With a gateway token, an agent changes only its own.
 *
 * @throws {ServiceError} `forbidden`
 */
export function checkMayChange(caller: Caller, agent: { id: string }): void {
  if (caller.agentId === undefined || caller.agentId === agent.id) return;
  throw new ServiceError(
    "forbidden",
    "A gateway token can change only its own agent. Omit agent_id, or use the personal access token of a user.",
  );
}
