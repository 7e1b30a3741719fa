import { callHost } from "../agents/call-host.ts";
import { findServerAndAgent } from "../agents/find-server.ts";
import { type OpenHostDeps, hostedIdOf, openHost, selectAgentIds } from "../agents/open-host.ts";
import type { AgentHost, HostedSession } from "../ports/agent-host.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import type { SessionView } from "./session-view.ts";

export interface ListSessions {
  /** By default the server of the agent, or the first server of the organization. */
  server_id?: string | undefined;
  /** By default all agents of the server. */
  agent_id?: string | undefined;
  /** The maximum number of sessions. */
  limit: number;
  /** The `next_cursor` of an earlier page; without it, the first page is returned. */
  cursor?: string | undefined;
}

export interface SessionPage {
  sessions: SessionView[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

/** What remains for the sessions, because the cursor has to fit too. */
const SESSIONS_CHARACTERS = RESPONSE_CHARACTERS - 200;

/**
 * Returns one page of the sessions of a server, or of one of its agents, the latest updated first. It ends after `limit`
 * sessions, or earlier at the size limit of a response. Sessions of agents that the service has not listed yet are left out.
 *
 * @throws {ServiceError} `not_found` when the organization has no such server, or the server no such agent; `invalid` for a
 *   cursor that this service did not return; `unavailable` or `conflict` when the host of the server does not list them
 */
export async function listSessions(
  access: OpenHostDeps,
  caller: Caller,
  { server_id: serverId, agent_id: agentId, limit, cursor }: ListSessions,
): Promise<SessionPage> {
  const { host, ...owner } = await findOwner(access, caller, { serverId, agentId });
  const request = { agentId: owner.hostedId, limit, cursor };
  const { items, next } = await callHost((signal) => host.listSessions(request, signal));
  const agentIds = await selectAgentIds(access.db, owner.serverId);
  const listed = items.flatMap(({ item, cursor: end }) => {
    const sessionAgentId = agentIds.get(item.agentId);
    return sessionAgentId === undefined ? [] : [{ view: toView(item, owner.serverId, sessionAgentId), end }];
  });
  const views = listed.map(({ view }) => view);
  const sessions = takeWithinBudget(views, SESSIONS_CHARACTERS);
  const isCut = sessions.length < listed.length;
  return { sessions, next_cursor: isCut ? (listed[sessions.length - 1]?.end ?? null) : next };
}

interface SessionOwner {
  serverId: string;
  host: AgentHost;
  /** `null` for all agents of the server. */
  hostedId: string | null;
}

/** @throws {ServiceError} `not_found` when the organization has no such server, or the server no such agent */
async function findOwner(
  access: OpenHostDeps,
  caller: Caller,
  owner: { serverId: string | undefined; agentId: string | undefined },
): Promise<SessionOwner> {
  const { server, agent } = await findServerAndAgent(access.db, caller, owner);
  const hostedId = agent === null ? null : hostedIdOf(agent);
  return { serverId: server.id, host: await openHost(access, caller, server), hostedId };
}

function toView(session: HostedSession, serverId: string, agentId: string): SessionView {
  return {
    session_id: session.id,
    external_id: session.externalId,
    server_id: serverId,
    agent_id: agentId,
    title: session.title,
    created_at: toIsoTimestamp(session.createdAt),
    updated_at: toIsoTimestamp(session.updatedAt),
    closed_at: session.closedAt === null ? null : toIsoTimestamp(session.closedAt),
    message_count: session.messageCount,
    tokens: session.tokens,
  };
}
