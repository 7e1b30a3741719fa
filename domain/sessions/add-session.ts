import { agentNotFound, checkIsManaged } from "../agents/agent-view.ts";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { SESSION_LIMITS } from "./session-rules.ts";
import type { SessionRow } from "./session-view.ts";

/**
 * Makes simultaneous requests for the same agent count each other's sessions. Returns the server of the agent.
 *
 * @throws {ServiceError} `not_found` when the organization has no such agent; `conflict` for an agent of a gateway
 */
export async function lockAgent(tx: Db, { orgId }: Caller, id: string): Promise<string> {
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

export interface SessionOfAgent {
  orgId: string;
  agentId: string;
  externalId: string;
}

export function findSessionOfAgent(tx: Db, { orgId, agentId, externalId }: SessionOfAgent) {
  return tx
    .selectFrom("sessions")
    .selectAll()
    .where("agent_id", "=", agentId)
    .where("external_id", "=", externalId)
    .where("org_id", "=", orgId);
}

export interface NewSession extends Pick<
  SessionRow,
  "id" | "org_id" | "server_id" | "agent_id" | "external_id" | "title"
> {
  /** When the session began. */
  time: Date;
}

/**
 * Adds a session of a locked agent.
 *
 * @throws {ServiceError} `conflict` when the agent has too many sessions
 */
export async function addSession(tx: Db, { time, ...values }: NewSession): Promise<SessionRow> {
  await checkSessionCount(tx, values.agent_id);
  return tx
    .insertInto("sessions")
    .values({ ...values, created_at: time, updated_at: time })
    .returningAll()
    .executeTakeFirstOrThrow();
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
