import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { decodeCursor, encodeCursor, isAfterCursor } from "../shared/keyset-cursor.ts";
import type { Db } from "../database-types.ts";
import type { AuditOutcome } from "./audit-event.entity.ts";

const PAGE_SIZE = 100;

export interface AuditEventView {
  id: string;
  user_id: string | null;
  credential_kind: string | null;
  credential_id: string | null;
  action: string;
  target: string | null;
  outcome: AuditOutcome;
  address: string | null;
  created_at: string;
}

export interface AuditPage {
  events: AuditEventView[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

const COLUMNS = [
  "id",
  "user_id",
  "credential_kind",
  "credential_id",
  "action",
  "target",
  "outcome",
  "address",
  "created_at",
] as const;

export interface ListEventsDeps {
  db: Db;
}

/**
 * Lists the audit events of the caller's organization, newest first. Events without an organization, such as a failed
 * sign-in, are included if their user is a member.
 *
 * @throws {ServiceError} `invalid` for an invalid cursor
 */
export async function listEvents(
  { db }: ListEventsDeps,
  { orgId }: Caller,
  { cursor }: { cursor?: string | undefined },
): Promise<AuditPage> {
  const members = db.selectFrom("auth.member").select("userId").where("organizationId", "=", orgId);
  let query = db
    .selectFrom("audit_events")
    .select(COLUMNS)
    .where(({ or, and, eb }) =>
      or([eb("org_id", "=", orgId), and([eb("org_id", "is", null), eb("user_id", "in", members)])]),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(PAGE_SIZE + 1);
  if (cursor !== undefined) {
    const position = decodeCursor(cursor);
    query = query.where((builder) => isAfterCursor(builder, position));
  }
  const rows = await query.execute();
  const events = rows.slice(0, PAGE_SIZE).map((row) => ({ ...row, created_at: toIsoTimestamp(row.created_at) }));
  const last = events.at(-1);
  const hasMore = rows.length > PAGE_SIZE && last !== undefined;
  return { events, next_cursor: hasMore ? encodeCursor(last) : null };
}
