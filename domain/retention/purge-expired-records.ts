import type { Kysely } from "kysely";
import { KEY_TTL_HOURS } from "../apps/idempotency.ts";
import type { Db } from "../database-types.ts";

export interface Retention {
  /** How many days audit events are kept; `null` without a limit. */
  auditDays: number | null;
}

interface RetentionRule {
  table: string;
  /** The columns of the primary key, if it is not `id`. */
  key?: readonly string[];
  /** The column with the time, or the month, from which the days are counted. It has an index. */
  since: string;
  days: number;
  /** Restricts the rule to some of the records. `before` is the time `days` ago. */
  restrict?: (records: RecordsQuery, before: string) => RecordsQuery;
}

/** Anyone can register a client. A user who closed its consent page may come back within a week. */
const UNUSED_CLIENT_DAYS = 7;
/** Three lifetimes of a refresh token, so no user is signed in through the client. It would have to register again. */
const IDLE_CLIENT_DAYS = 90;
/** For this time, `npm run admin -- list-tokens` shows when an expired or revoked token was last used. */
const INVALID_TOKEN_DAYS = 90;
/**
 * A session records the client network. `limit-sign-ins.ts` lets the user sign in from it even if others guess
 * passwords.
 */
const SESSION_DAYS = 30;
/** Thirteen months, counted from the first day of a month. */
const USAGE_DAYS = 396;
/** After a day, no clock skew between processes makes an expired record valid. */
const EXPIRED_DAYS = 1;
/** So long, a delivery of a git host that comes again is recognized. */
const PUSH_DELIVERY_DAYS = 30;

const RULES: readonly RetentionRule[] = [
  { table: "auth.verification", since: "expiresAt", days: EXPIRED_DAYS },
  { table: "auth.deviceCode", since: "expiresAt", days: EXPIRED_DAYS },
  { table: "auth.oauthClientAssertion", since: "expiresAt", days: EXPIRED_DAYS },
  { table: "auth.oauthAccessToken", since: "expiresAt", days: EXPIRED_DAYS },
  { table: "auth.oauthRefreshToken", since: "expiresAt", days: EXPIRED_DAYS },
  { table: "auth.session", since: "expiresAt", days: SESSION_DAYS },
  { table: "auth.oauthClient", since: "lastUsedAt", days: IDLE_CLIENT_DAYS, restrict: onlyIdle },
  { table: "auth.oauthClient", since: "createdAt", days: IDLE_CLIENT_DAYS, restrict: onlyNeverUsed },
  { table: "auth.oauthClient", since: "createdAt", days: UNUSED_CLIENT_DAYS, restrict: onlyWithoutConsent },
  { table: "machine_tokens", since: "expires_at", days: INVALID_TOKEN_DAYS },
  { table: "machine_tokens", since: "revoked_at", days: INVALID_TOKEN_DAYS },
  { table: "idempotency_keys", key: ["org_id", "key"], since: "created_at", days: KEY_TTL_HOURS / 24 },
  // A month, such as `2026-07`, is less than every time in it.
  { table: "usage_counts", key: ["org_id", "period", "metric", "subject_id"], since: "period", days: USAGE_DAYS },
  { table: "push_deliveries", since: "created_at", days: PUSH_DELIVERY_DAYS },
  { table: "rate_limit_windows", key: ["key"], since: "expires_at", days: 0 },
];

/** Rows per statement, and statements per rule and call, so that one rule does not delay the others. */
const BATCH_SIZE = 500;
const MAX_BATCHES = 20;

/**
 * Deletes expired records, idempotency keys and windows of rate limits, OAuth clients that are not in use, tokens that
 * expired or were revoked long ago, and old audit events and usage counts. Several processes may do so at the same time.
 *
 * @returns how many records were deleted
 */
export async function purgeExpiredRecords(db: Db, { auditDays }: Retention): Promise<number> {
  const audit = auditDays === null ? [] : [{ table: "audit_events", since: "created_at", days: auditDays }];
  let purged = 0;
  for (const rule of [...RULES, ...audit]) purged += await purgeByRule(db, rule);
  return purged;
}

async function purgeByRule(db: Db, rule: RetentionRule): Promise<number> {
  let purged = 0;
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const deleted = await deleteBatch(db as unknown as AnyTables, rule);
    purged += deleted;
    if (deleted < BATCH_SIZE) break;
  }
  return purged;
}

/** The tables as this module sees them: columns of text. */
type AnyTables = Kysely<Record<string, Record<string, string | null>>>;
type RecordsQuery = ReturnType<typeof selectKeys>;

function selectKeys(db: AnyTables, table: string, key: readonly string[]) {
  return db.selectFrom(table).select(key);
}

async function deleteBatch(
  db: AnyTables,
  { table, key = ["id"], since, days, restrict = (all) => all }: RetentionRule,
): Promise<number> {
  const before = new Date(Date.now() - days * 86_400_000).toISOString();
  const { numDeletedRows } = await db
    // Rows that another process is deleting, or that a request has just begun to use, are locked and are skipped.
    .with("old", (rows) =>
      restrict(selectKeys(rows as AnyTables, table, key), before)
        .where(since, "<", before)
        .orderBy(since)
        .limit(BATCH_SIZE)
        .forUpdate()
        .skipLocked(),
    )
    .deleteFrom(table)
    .where(({ exists, selectFrom }) => {
      const sameRow = (query: RecordsQuery, column: string) =>
        query.whereRef(`old.${column}`, "=", `${table}.${column}`);
      return exists(key.reduce(sameRow, selectFrom("old").select(key)));
    })
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/**
 * Clients that are not in use. An operator sets up the clients that skip the consent page, so those stay. A client whose
 * record was updated recently is in use: its metadata document was read again, because a user is asked for consent.
 */
function onlyIdle(clients: RecordsQuery, before: string): RecordsQuery {
  return clients.where("skipConsent", "is not", true as never).where("updatedAt", "<", before);
}

function onlyNeverUsed(clients: RecordsQuery, before: string): RecordsQuery {
  return onlyIdle(clients, before).where("lastUsedAt", "is", null);
}

/** Clients that no user gave consent to. A user who gave it may be about to use the client. */
function onlyWithoutConsent(clients: RecordsQuery, before: string): RecordsQuery {
  return onlyNeverUsed(clients, before).where(({ not, exists, selectFrom }) =>
    not(
      exists(
        selectFrom("auth.oauthConsent as consent")
          .select("consent.id")
          .whereRef("consent.clientId", "=", "auth.oauthClient.clientId"),
      ),
    ),
  );
}
