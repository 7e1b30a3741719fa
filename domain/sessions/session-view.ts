import type { Selectable } from "kysely";
import type { DatabaseTables } from "../database-types.ts";
import { ServiceError } from "../shared/errors.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { type TokenCounters, toTokenCounters } from "../usage/token-counters.ts";

export interface SessionView {
  session_id: string;
  /** The id that the client has given. */
  external_id: string;
  server_id: string;
  agent_id: string;
  title: string | null;
  created_at: string;
  /** The latest time of an entry, or the creation. */
  updated_at: string;
  closed_at: string | null;
  /** The number of entries, and the seq of the last one; `null` for a session of a gateway that does not count them. */
  message_count: number | null;
  tokens: TokenCounters;
}

export type SessionRow = Selectable<DatabaseTables["sessions"]>;

export function toSessionView(row: SessionRow): SessionView {
  return {
    session_id: row.id,
    external_id: row.external_id,
    server_id: row.server_id,
    agent_id: row.agent_id,
    title: row.title,
    created_at: toIsoTimestamp(row.created_at),
    updated_at: toIsoTimestamp(row.updated_at),
    closed_at: row.closed_at === null ? null : toIsoTimestamp(row.closed_at),
    message_count: row.message_count,
    tokens: toTokenCounters(row),
  };
}

/** The same error for a session that never existed and for any of another organization. */
export function sessionNotFound(): ServiceError {
  return new ServiceError(
    "not_found",
    "Session not found. service_list_agent_sessions lists the sessions of a server.",
  );
}
