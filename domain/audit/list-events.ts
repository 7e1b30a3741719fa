import type { Selectable } from "kysely";
import type { DatabaseTables, Db } from "../database-types.ts";
import { isReservedEmail } from "../organizations/reserved-email.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { decodeCursor, encodeCursor } from "../shared/keyset-cursor.ts";
import type { AuditOutcome } from "./audit-event.entity.ts";
import { findNames, findOpenInvitations, type Name, type Names } from "./find-names.ts";
import { type EVENT_COLUMNS, selectEvents } from "./select-events.ts";

const PAGE_SIZE = 100;

export interface AuditEventView {
  id: string;
  user_id: string | null;
  /** `null` for a user who was deleted. */
  user_name: string | null;
  user_email: string | null;
  credential_kind: string | null;
  credential_id: string | null;
  credential_name: string | null;
  action: string;
  /** `null` also for an invitation that can still be accepted. */
  target: string | null;
  /** A `TargetKind`; later versions may add kinds. */
  target_kind: string | null;
  target_name: string | null;
  /** The variable that was set or deleted. */
  variable_name: string | null;
  /** The email address of a user or an invitation. */
  target_email: string | null;
  outcome: AuditOutcome;
  address: string | null;
  created_at: string;
}

export interface AuditPage {
  events: AuditEventView[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

export interface ListEventsRequest extends TimeRange {
  user_id?: string | undefined;
  credential_id?: string | undefined;
  action?: string | undefined;
  target?: string | undefined;
  cursor?: string | undefined;
}

export interface ListEventsDeps {
  db: Db;
}

/**
 * Lists the audit events of the caller's organization, newest first. Events without an organization, such as a failed
 * sign-in, are included if their user is a member.
 *
 * @throws {ServiceError} `invalid` for an invalid cursor or time range
 */
export async function listEvents(
  { db }: ListEventsDeps,
  { orgId }: Caller,
  { user_id: userId, credential_id: credentialId, action, target, cursor, ...range }: ListEventsRequest,
): Promise<AuditPage> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  const filter = { userId, credentialId, action, target, after, ...validateTimeRange(range) };
  const rows = await selectEvents(db, orgId, filter, PAGE_SIZE + 1).execute();
  const page = rows.slice(0, PAGE_SIZE);
  const names = await findNames(
    db,
    orgId,
    page.flatMap(({ target, credential_id }) => [target, credential_id]),
  );
  const users = await findUsers(db, page);
  const openInvitations = await findOpenInvitations(db, orgId, names);
  const events = page
    .map((row) => toView(row, names, users))
    .map((event) => (openInvitations.has(event.target ?? "") ? { ...event, target: null } : event));
  const last = events.at(-1);
  return { events, next_cursor: rows.length > PAGE_SIZE && last !== undefined ? encodeCursor(last) : null };
}

type EventRow = Pick<Selectable<DatabaseTables["audit_events"]>, (typeof EVENT_COLUMNS)[number]>;
type Users = ReadonlyMap<string, { name: string; email: string | null }>;

async function findUsers(db: Db, rows: readonly EventRow[]): Promise<Users> {
  const targets = rows.map(({ target, target_kind }) => (target_kind === "user" ? target : null));
  const ids = [...rows.map(({ user_id }) => user_id), ...targets].filter((id) => id !== null);
  if (ids.length === 0) return new Map();
  const users = await db
    .selectFrom("auth.user")
    .select(["id", "name", "email"])
    .where("id", "in", [...new Set(ids)])
    .execute();
  // The service made up the addresses of placeholder owners and of external users.
  return new Map(users.map(({ id, name, email }) => [id, { name, email: isReservedEmail(email) ? null : email }]));
}

/** A stored name is the one at the time of the action. Names of users and invitations are not stored. */
function toView(row: EventRow, names: Names, users: Users): AuditEventView {
  const user = users.get(row.user_id ?? "");
  return {
    id: row.id,
    user_id: row.user_id,
    user_name: user?.name ?? null,
    user_email: user?.email ?? null,
    credential_kind: row.credential_kind,
    credential_id: row.credential_id,
    credential_name: row.credential_name ?? names.get(row.credential_id ?? "")?.name ?? null,
    action: row.action,
    ...describeTarget(row, names.get(row.target ?? ""), users),
    variable_name: row.variable_name,
    outcome: row.outcome,
    address: row.address,
    created_at: toIsoTimestamp(row.created_at),
  };
}

function describeTarget(
  { target, target_kind, target_name }: EventRow,
  found: Name | undefined,
  users: Users,
): Pick<AuditEventView, "target" | "target_kind" | "target_name" | "target_email"> {
  const user = target_kind === "user" ? users.get(target ?? "") : undefined;
  const email = found?.kind === "invitation" ? found.name : (user?.email ?? null);
  return {
    target,
    target_kind: target_kind ?? found?.kind ?? null,
    target_name: user?.name ?? target_name ?? (found?.kind === "invitation" ? null : (found?.name ?? null)),
    target_email: email,
  };
}

interface TimeRange {
  /** RFC 3339, inclusive. */
  from?: string | undefined;
  /** RFC 3339, exclusive. */
  to?: string | undefined;
}

/**
 * Returns the range in UTC.
 *
 * @throws {ServiceError} `invalid` for a time that PostgreSQL does not accept, and for an empty range
 */
export function validateTimeRange({ from, to }: TimeRange): TimeRange {
  const range = { from: toUtc("from", from), to: toUtc("to", to) };
  if (range.from !== undefined && range.to !== undefined && range.from >= range.to)
    throw new ServiceError("invalid", "from: must be earlier than to.");
  return range;
}

/** Years before 0 and after 9999 have a sign, which sorts before all digits. */
const YEAR_1 = "0001-";

function toUtc(name: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const time = new Date(text);
  const utc = Number.isNaN(time.getTime()) ? "" : time.toISOString();
  if (utc < YEAR_1) throw new ServiceError("invalid", `${name}: must be a time in the years 1 to 9999.`);
  return utc;
}
