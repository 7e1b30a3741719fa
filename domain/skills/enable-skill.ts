import type { EntityManager } from "@mikro-orm/core";
import { agentNotFound, checkIsManaged } from "../agents/agent-view.ts";
import { checkMayChange, findAgent } from "../agents/find-agent.ts";
import { type Db, queryBuilderOf } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { inTransaction } from "../shared/transaction.ts";
import { isSkillName, skillNotFound } from "./skill-rules.ts";

export interface EnableSkillDeps {
  em: EntityManager;
  db: Db;
}

export interface EnableSkill {
  agent_id?: string | undefined;
  name: string;
  enabled: boolean;
}

export interface EnabledSkillView {
  agent_id: string;
  name: string;
  enabled: boolean;
}

/**
 * Enables or disables a skill for one agent. Repeating a call changes nothing.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent or skill; `forbidden` for a gateway token of
 *   another agent; `conflict` for an agent of a gateway
 */
export async function enableSkill(
  { em: root, db }: EnableSkillDeps,
  caller: Caller,
  { agent_id: agentId, name, enabled }: EnableSkill,
): Promise<EnabledSkillView> {
  const agent = await findAgent(db, caller, agentId);
  checkMayChange(caller, agent);
  if (!isSkillName(name)) throw skillNotFound();
  await inTransaction(root, async (em) => {
    const tx = queryBuilderOf(em);
    await lockAgents(tx, caller, [agent.id]);
    const skill = await tx
      .selectFrom("skills")
      .select("id")
      .where("org_id", "=", caller.orgId)
      .where("name", "=", name)
      .forShare()
      .executeTakeFirst();
    if (skill === undefined) throw skillNotFound();
    const row = { agent_id: agent.id, skill_id: skill.id };
    if (enabled) await insertEnabled(tx, [row]);
    else
      await tx
        .deleteFrom("enabled_skills")
        .where("agent_id", "=", row.agent_id)
        .where("skill_id", "=", row.skill_id)
        .execute();
  });
  return { agent_id: agent.id, name, enabled };
}

/**
 * Enables a skill for agents, in the transaction of `tx`.
 *
 * @throws {ServiceError} `not_found` when the organization does not have one of the agents; `forbidden` for a gateway token
 *   of another agent; `conflict` for an agent of a gateway
 */
export async function enableForAgents(
  tx: Db,
  caller: Caller,
  skillId: string,
  agentIds: readonly string[],
): Promise<void> {
  const ids = [...new Set(agentIds.map((id) => id.toLowerCase()))];
  if (ids.length === 0) return;
  await lockAgents(tx, caller, ids);
  for (const id of ids) checkMayChange(caller, { id });
  await insertEnabled(
    tx,
    ids.map((id) => ({ agent_id: id, skill_id: skillId })),
  );
}

/** Until the transaction ends, the agents cannot be deleted. */
async function lockAgents(tx: Db, { orgId }: Caller, ids: readonly string[]): Promise<void> {
  const agents = await tx
    .selectFrom("agents as agent")
    .innerJoin("agent_servers as server", "server.id", "agent.server_id")
    .select(["agent.id", "server.kind"])
    .where("agent.org_id", "=", orgId)
    .where("agent.id", "in", ids)
    .orderBy("agent.id")
    .forShare("agent")
    .execute();
  if (agents.length < ids.length) throw agentNotFound();
  agents.forEach(checkIsManaged);
}

async function insertEnabled(tx: Db, rows: { agent_id: string; skill_id: string }[]): Promise<void> {
  await tx
    .insertInto("enabled_skills")
    .values(rows)
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
