import type { EntityManager } from "@mikro-orm/core";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { type AgentRuntime, type DeclareRuntime, toRuntime } from "./agent-runtime.ts";
import { Agent } from "./agent.entity.ts";
import { agentNotFound, checkIsManaged } from "./agent-view.ts";
import { checkMayChange, findAgent } from "./find-agent.ts";

export interface AgentRuntimeDeps {
  em: EntityManager;
  db: Db;
}

export type RuntimeView = { agent_id: string; declared: boolean } & AgentRuntime;

/**
 * Replaces what an agent has declared of its runtime.
 *
 * @throws {ServiceError} `invalid` for a name that is not allowed; `not_found` when the organization has no such agent;
 *   `forbidden` for a gateway token of another agent; `conflict` for an agent of a gateway
 */
export async function declareRuntime(
  { em, db }: AgentRuntimeDeps,
  caller: Caller,
  { id, ...declared }: { id: string } & DeclareRuntime,
): Promise<RuntimeView> {
  const runtime = toRuntime(declared);
  const agent = await findAgent(db, caller, id);
  checkMayChange(caller, agent);
  checkIsManaged(agent);
  const changed = await em.fork().nativeUpdate(Agent, { id: agent.id, orgId: caller.orgId }, { runtime });
  if (changed === 0) throw agentNotFound();
  return { agent_id: agent.id, declared: true, ...runtime };
}

/**
 * Reads what an agent has declared of its runtime.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent
 */
export async function readRuntime(
  { db }: Pick<AgentRuntimeDeps, "db">,
  caller: Caller,
  id: string,
): Promise<RuntimeView> {
  const agent = await findAgent(db, caller, id);
  const runtime = await selectRuntime(db, agent.id);
  return { agent_id: agent.id, declared: runtime !== null, ...(runtime ?? toRuntime({})) };
}

/** Returns `null` for an agent that has declared nothing. */
export async function selectRuntime(db: Db, agentId: string): Promise<AgentRuntime | null> {
  const row = await db.selectFrom("agents").select("runtime").where("id", "=", agentId).executeTakeFirst();
  return row?.runtime ?? null;
}
