import type { Db } from "../database-types.ts";
import { AgentHostError, type HostedPage, type HostedSession, type ListHostedSessions } from "../ports/agent-host.ts";
import { ServiceError } from "../shared/errors.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { type CursorPosition, decodeCursor, encodeCursor } from "../shared/keyset-cursor.ts";
import { toTokenCounters } from "../usage/token-counters.ts";
import type { SessionRow } from "./session-view.ts";

/**
 * Lists the stored sessions of a server or of one of its agents, as the host of the server. It reads an index in the order of the page, so the time of a page does
 * not depend on the number of sessions. A session that is updated meanwhile moves to the first page.
 *
 * @param request.agentId - an agent of the server; `null` for all
 * @throws {AgentHostError} `invalid_cursor`
 */
export async function listStoredSessions(
  db: Db,
  server: { id: string; orgId: string },
  { agentId, limit, cursor }: ListHostedSessions,
): Promise<HostedPage<HostedSession>> {
  const after = cursor === undefined ? null : decode(cursor);
  const rows = await db
    .selectFrom("sessions")
    .selectAll()
    .where("org_id", "=", server.orgId)
    .where(({ eb }) => (agentId === null ? eb("server_id", "=", server.id) : eb("agent_id", "=", agentId)))
    .$if(after !== null, (query) =>
      query.where(({ eb, refTuple, tuple }) =>
        eb(refTuple("updated_at", "id"), "<", tuple(after?.createdAt as never, after?.id as never)),
      ),
    )
    .orderBy("updated_at", "desc")
    .orderBy("id", "desc")
    .limit(limit + 1)
    .execute();
  const items = rows.slice(0, limit).map((row) => ({ item: toHostedSession(row), cursor: encode(row) }));
  return { items, next: rows.length > limit ? (items.at(-1)?.cursor ?? null) : null };
}

function encode({ id, updated_at: updatedAt }: SessionRow): string {
  return encodeCursor({ created_at: toIsoTimestamp(updatedAt), id });
}

function decode(cursor: string): CursorPosition {
  try {
    return decodeCursor(cursor);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new AgentHostError("invalid_cursor", "The cursor is not one of this list.", { cause: error });
  }
}

function toHostedSession(row: SessionRow): HostedSession {
  return {
    id: row.id,
    externalId: row.external_id,
    agentId: row.agent_id,
    title: row.title,
    createdAt: new Date(toIsoTimestamp(row.created_at)),
    updatedAt: new Date(toIsoTimestamp(row.updated_at)),
    closedAt: row.closed_at === null ? null : new Date(toIsoTimestamp(row.closed_at)),
    messageCount: row.message_count,
    tokens: toTokenCounters(row),
  };
}
