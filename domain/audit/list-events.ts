import type { Caller } from "../shared/caller.ts";
import { decodeCursor, encodeCursor, isAfterCursor } from "../shared/keyset-cursor.ts";
import type { Db } from "../database-types.ts";
import type { AuditOutcome } from "./audit-event.entity.ts";

const PAGE = 100;

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
  /** Reads on where this page ends; `null` on the last page. */
  next_cursor: string | null;
}

const COLUMNS = [
  ...(["id", "user_id", "credential_kind", "credential_id", "action"] as const),
  ...(["target", "outcome", "address", "created_at"] as const),
] as const;

export interface ListEventsDeps {
  db: Db;
}

/**
 * What was done in the caller's organization, newest first, and what its members tried at the door.
 *
 * @throws {ServiceError} `invalid` for a cursor that no page gave out
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
    .limit(PAGE + 1);
  if (cursor !== undefined) {
    const position = decodeCursor(cursor);
    query = query.where((builder) => isAfterCursor(builder, position));
  }
  const rows = await query.execute();
  const events = rows
    .slice(0, PAGE)
    .map((row) => ({ ...row, created_at: new Date(row.created_at as unknown as string).toISOString() }));
  const last = events.at(-1);
  return { events, next_cursor: rows.length > PAGE && last !== undefined ? encodeCursor(last) : null };
}
