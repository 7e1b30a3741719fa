import { randomUUID } from "node:crypto";
import type { EntityManager } from "@mikro-orm/core";
import { checkMayChange } from "../agents/find-agent.ts";
import { queryBuilderOf } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { inTransaction } from "../shared/transaction.ts";
import { addSession, findSessionOfAgent, lockAgent } from "./add-session.ts";
import { checkClientId, checkTime, checkTitle } from "./session-rules.ts";
import { type SessionView, toSessionView } from "./session-view.ts";

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
  return inTransaction(root, async (em) => {
    const tx = queryBuilderOf(em);
    const serverId = await lockAgent(tx, caller, agentId);
    checkMayChange(caller, { id: agentId });
    const { orgId } = caller;
    const existing = await findSessionOfAgent(tx, { orgId, agentId, externalId }).executeTakeFirst();
    if (existing !== undefined) return toSessionView(existing);
    const owner = { id: randomUUID(), org_id: orgId, server_id: serverId, agent_id: agentId };
    return toSessionView(await addSession(tx, { ...owner, external_id: externalId, title: title ?? null, time }));
  });
}
