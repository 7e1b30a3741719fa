import { agentNotFound } from "../agents/agent-view.ts";
import { findAgent } from "../agents/find-agent.ts";
import { findServerId } from "../agents/find-server.ts";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { type CursorPosition, decodeCursor, encodeCursor } from "../shared/keyset-cursor.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import type { ReadSessionsDeps } from "./find-session.ts";
import { type SessionView, toSessionView } from "./session-view.ts";

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
 * sessions, or earlier at the size limit of a response. A session that is updated meanwhile moves to the first page.
 *
 * @throws {ServiceError} `not_found` when the organization has no such server, or the server no such agent; `invalid` for a
 *   cursor that this service did not return
 */
export async function listSessions(
  { db }: ReadSessionsDeps,
  caller: Caller,
  { server_id: serverId, agent_id: agentId, limit, cursor }: ListSessions,
): Promise<SessionPage> {
  const after = cursor === undefined ? null : decodeCursor(cursor);
  const owner = await findOwner(db, caller, { serverId, agentId });
  const rows = await selectSessions(db, { ...owner, orgId: caller.orgId, after }, limit + 1).execute();
  const sessions = takeWithinBudget(rows.slice(0, limit).map(toSessionView), SESSIONS_CHARACTERS);
  const last = sessions.at(-1);
  const hasMore = last !== undefined && rows.length > sessions.length;
  return {
    sessions,
    next_cursor: hasMore ? encodeCursor({ created_at: last.updated_at, id: last.session_id }) : null,
  };
}

/** The server whose sessions are read, or one of its agents. */
type SessionOwner = { serverId: string } | { agentId: string };

/** @throws {ServiceError} `not_found` when the organization has no such server, or the server no such agent */
async function findOwner(
  db: Db,
  caller: Caller,
  { serverId, agentId }: { serverId: string | undefined; agentId: string | undefined },
): Promise<SessionOwner> {
  if (agentId === undefined) return { serverId: await findServerId(db, caller, serverId) };
  const agent = await findAgent(db, caller, agentId);
  if (serverId !== undefined && agent.serverId !== (await findServerId(db, caller, serverId))) throw agentNotFound();
  return { agentId: agent.id };
}

/** Reads an index in the order of the page, so the time of a page does not depend on the number of sessions. */
function selectSessions(
  db: Db,
  { orgId, after, ...owner }: SessionOwner & { orgId: string; after: CursorPosition | null },
  limit: number,
) {
  return db
    .selectFrom("sessions")
    .selectAll()
    .where("org_id", "=", orgId)
    .where(({ eb }) => ("agentId" in owner ? eb("agent_id", "=", owner.agentId) : eb("server_id", "=", owner.serverId)))
    .$if(after !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple("updated_at", "id"), "<", tuple(after?.createdAt as never, after?.id as never)),
      ),
    )
    .orderBy("updated_at", "desc")
    .orderBy("id", "desc")
    .limit(limit);
}
