import type { Kysely } from "kysely";
import type { Db } from "../database-types.ts";

export interface Retention {
  /** For how many days audit events are kept; `null` for ever. */
  auditDays: number | null;
}

interface Rule {
  table: string;
  /** Since when a record has been of no use; there is an index on it. */
  since: string;
  /** For how many days it is kept after that. */
  days: number;
  /** @param before - since before then, the records have been of no use */
  narrowed?: (records: Records, before: string) => Records;
}

/** Anybody can make a client; whoever closed the page that asks about it may come back within a week. */
const UNUSED_CLIENT_DAYS = 7;
/** Three lives of a refresh token, so nobody can be signed in with the client any more. It would have to register again. */
const IDLE_CLIENT_DAYS = 90;
/** A token is listed with its last use for as long as somebody may wonder what it was. */
const DEAD_TOKEN_DAYS = 90;
/** From a session the address of its person is known, which lets them in while strangers guess at their password. */
const SESSION_DAYS = 30;
/** Nothing refers any more to what ran out yesterday, whatever the clocks say. */
const EXPIRED_DAYS = 1;

const RULES: readonly Rule[] = [
  { table: "auth.verification", since: "expiresAt", days: EXPIRED_DAYS },
  { table: "auth.deviceCode", since: "expiresAt", days: EXPIRED_DAYS },
  { table: "auth.oauthClientAssertion", since: "expiresAt", days: EXPIRED_DAYS },
  { table: "auth.oauthAccessToken", since: "expiresAt", days: EXPIRED_DAYS },
  { table: "auth.oauthRefreshToken", since: "expiresAt", days: EXPIRED_DAYS },
  { table: "auth.session", since: "expiresAt", days: SESSION_DAYS },
  { table: "auth.oauthClient", since: "lastUsedAt", days: IDLE_CLIENT_DAYS, narrowed: idle },
  { table: "auth.oauthClient", since: "createdAt", days: IDLE_CLIENT_DAYS, narrowed: neverUsed },
  { table: "auth.oauthClient", since: "createdAt", days: UNUSED_CLIENT_DAYS, narrowed: neverAgreedTo },
  { table: "machine_tokens", since: "expires_at", days: DEAD_TOKEN_DAYS },
  { table: "machine_tokens", since: "revoked_at", days: DEAD_TOKEN_DAYS },
];

/** A statement deletes so many records, and a call sends so many statements for each rule: then it is the next one's turn. */
const BATCH = 500;
const BATCHES = 20;

/**
 * Deletes what has been of no use for long enough: what ran out, OAuth clients that nobody uses, tokens that are long over,
 * and old audit events. Several processes may do so at once.
 *
 * @returns how many records are gone
 */
export async function purgeExpiredRecords(db: Db, { auditDays }: Retention): Promise<number> {
  const audit = auditDays === null ? [] : [{ table: "audit_events", since: "created_at", days: auditDays }];
  let forgotten = 0;
  for (const rule of [...RULES, ...audit]) forgotten += await forget(db, rule);
  return forgotten;
}

async function forget(db: Db, rule: Rule): Promise<number> {
  let forgotten = 0;
  for (let batch = 0; batch < BATCHES; batch++) {
    const deleted = await deleteBatch(db as unknown as AnyTables, rule);
    forgotten += deleted;
    if (deleted < BATCH) break;
  }
  return forgotten;
}

/** What this module knows of every table: columns of text, an `id` among them. */
type AnyTables = Kysely<Record<string, Record<string, string | null>>>;
type Records = ReturnType<typeof recordsOf>;

function recordsOf(db: AnyTables, table: string) {
  return db.selectFrom(table).select("id");
}

async function deleteBatch(db: AnyTables, { table, since, days, narrowed = (all) => all }: Rule): Promise<number> {
  const before = new Date(Date.now() - days * 86_400_000).toISOString();
  const { numDeletedRows } = await db
    // What somebody else is deleting, or has just come to use, is left alone.
    .with("old", (rows) =>
      narrowed(recordsOf(rows as AnyTables, table), before)
        .where(since, "<", before)
        .orderBy(since)
        .limit(BATCH)
        .forUpdate()
        .skipLocked(),
    )
    .deleteFrom(table)
    .where("id", "in", ({ selectFrom }) => selectFrom("old").select("id"))
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}

/**
 * Who may go without consent was set up by an operator. Who was written down anew, because somebody is asked about a
 * client whose own document is read again, is in use at this moment.
 */
function idle(clients: Records, before: string): Records {
  return clients.where("skipConsent", "is not", true as never).where("updatedAt", "<", before);
}

function neverUsed(clients: Records, before: string): Records {
  return idle(clients, before).where("lastUsedAt", "is", null);
}

/** Who has agreed to a client may be about to use it. */
function neverAgreedTo(clients: Records, before: string): Records {
  return neverUsed(clients, before).where(({ not, exists, selectFrom }) =>
    not(
      exists(
        selectFrom("auth.oauthConsent as consent")
          .select("consent.id")
          .whereRef("consent.clientId", "=", "auth.oauthClient.clientId"),
      ),
    ),
  );
}
