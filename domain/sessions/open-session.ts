import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import type { SqlEntityManager } from "@mikro-orm/sql";
import { agentNotFound, checkIsManaged } from "../agents/agent-view.ts";
import { checkMayChange } from "../agents/find-agent.ts";
import { type Db, queryBuilderOf } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { checkClientId, checkTime, checkTitle, SESSION_LIMITS } from "./session-rules.ts";
import { type SessionRow, type SessionView, toSessionView } from "./session-view.ts";

export interface ChangeSessionDeps {
  em: EntityManager;
}

export interface OpenSession {
  agent_id: string;
  /** Client-given, unique among the sessions of the agent, 1 to 128 visible ASCII characters. */
  external_id: string;
  title?: string | undefined;
  /** RFC 3339, for a session that began earlier; by default now. */
  created_at?: string | undefined;
}

/**
 * Opens a session of an agent. The same `external_id` again returns the same session, unchanged.
 *
 * @throws {ServiceError} `invalid` for a value that is not allowed; `not_found` when the organization has no such agent;
 *   `forbidden` for a gateway token of another agent; `conflict` when the agent has too many sessions, or
 *   is in a gateway
 */
export async function openSession(
  { em: root }: ChangeSessionDeps,
  caller: Caller,
  { agent_id: agentId, external_id: externalId, title, created_at: createdAt }: OpenSession,
): Promise<SessionView> {
  checkClientId("external_id", externalId);
  if (title !== undefined) checkTitle(title);
  const time = createdAt === undefined ? new Date() : checkTime("created_at", createdAt);
  return (root as SqlEntityManager).fork().transactional(async (em) => {
    const tx = queryBuilderOf(em);
    const serverId = await lockAgent(tx, caller, agentId);
    checkMayChange(caller, { id: agentId });
    const existing = await tx
      .selectFrom("sessions")
      .selectAll()
      .where("agent_id", "=", agentId)
      .where("external_id", "=", externalId)
      .executeTakeFirst();
    if (existing !== undefined) return toSessionView(existing);
    await checkSessionCount(tx, agentId);
    const owner = { org_id: caller.orgId, server_id: serverId, agent_id: agentId };
    return toSessionView(await insertSession(tx, { ...owner, external_id: externalId, title: title ?? null, time }));
  });
}

/** Makes simultaneous requests for the same agent count each other's sessions. Returns the server of the agent. */
async function lockAgent(tx: Db, { orgId }: Caller, id: string): Promise<string> {
  const agent = await tx
    .selectFrom("agents as agent")
    .innerJoin("agent_servers as server", "server.id", "agent.server_id")
    .select(["agent.server_id", "server.kind"])
    .where("agent.id", "=", id)
    .where("agent.org_id", "=", orgId)
    .forUpdate("agent")
    .executeTakeFirst();
  if (agent === undefined) throw agentNotFound();
  checkIsManaged(agent);
  return agent.server_id;
}

async function checkSessionCount(tx: Db, agentId: string): Promise<void> {
  const { sessionsPerAgent } = SESSION_LIMITS;
  const { count } = await tx
    .selectFrom("sessions")
    .select(({ fn }) => fn.countAll<string>().as("count"))
    .where("agent_id", "=", agentId)
    .executeTakeFirstOrThrow();
  if (Number(count) < sessionsPerAgent) return;
  throw new ServiceError(
    "conflict",
    `An agent can have at most ${sessionsPerAgent} sessions. Delete sessions that are not needed any more.`,
  );
}

function insertSession(
  tx: Db,
  { time, ...values }: Pick<SessionRow, "org_id" | "server_id" | "agent_id" | "external_id" | "title"> & { time: Date },
): Promise<SessionRow> {
  return tx
    .insertInto("sessions")
    .values({ ...values, id: randomUUID(), created_at: time, updated_at: time })
    .returningAll()
    .executeTakeFirstOrThrow();
}
