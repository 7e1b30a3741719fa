import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { purgeExpiredRecords } from "../../../domain/retention/purge-expired-records.ts";
import { givenOAuthClient, givenUser } from "../../support/identity/given-user.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();
const execute = <T = unknown>(sql: string, values: unknown[] = []) => em().execute<T[]>(sql, values);
const purge = (auditDays: number | null = null) => purgeExpiredRecords(service().service.parts.db, { auditDays });

const HOUR = 1;
const DAY = 24 * HOUR;

interface AgedRecord {
  table: string;
  /** How long the record is kept after the time in `column`, in hours. */
  keptHours: number;
  column: string;
  /** The other columns that have no default, as SQL. `?user` and `?client` are ids, and `?name` is unique. */
  columns: Record<string, string>;
}

const OAUTH_TOKEN = { token: "?name", clientId: "?client", userId: "?user", createdAt: "now()", scopes: "'[]'" };
const MACHINE_TOKEN = {
  id: "gen_random_uuid()",
  kind: "'api_key'",
  token_sha256: "?name",
  prefix: "'svk_'",
  name: "'CI'",
  org_id: "gen_random_uuid()",
  created_at: "now() - interval '1000 days'",
};

const RECORDS: AgedRecord[] = [
  {
    table: 'auth."verification"',
    column: "expiresAt",
    keptHours: DAY,
    columns: { identifier: "?name", value: "'x'", createdAt: "now()", updatedAt: "now()" },
  },
  {
    table: 'auth."deviceCode"',
    column: "expiresAt",
    keptHours: DAY,
    columns: { deviceCode: "?name", userCode: "?name", status: "'pending'" },
  },
  { table: 'auth."oauthClientAssertion"', column: "expiresAt", keptHours: DAY, columns: {} },
  { table: 'auth."oauthAccessToken"', column: "expiresAt", keptHours: DAY, columns: OAUTH_TOKEN },
  { table: 'auth."oauthRefreshToken"', column: "expiresAt", keptHours: DAY, columns: OAUTH_TOKEN },
  {
    table: 'auth."session"',
    column: "expiresAt",
    keptHours: 30 * DAY,
    columns: { token: "?name", userId: "?user", createdAt: "now()", updatedAt: "now()" },
  },
  { table: "machine_tokens", column: "expires_at", keptHours: 90 * DAY, columns: MACHINE_TOKEN },
  { table: "machine_tokens", column: "revoked_at", keptHours: 90 * DAY, columns: MACHINE_TOKEN },
  {
    table: "idempotency_keys",
    column: "created_at",
    keptHours: DAY,
    columns: { org_id: "gen_random_uuid()", key: "?name", fingerprint: "'x'", app_id: "gen_random_uuid()" },
  },
  {
    table: "rate_limit_windows",
    column: "expires_at",
    keptHours: 0,
    columns: { key: "?name", taken: "array[]::timestamptz[]", allowed: "true" },
  },
];

/** Inserts a record whose time in `column` was the given number of minutes ago. */
async function insertRecord({ table, column, columns }: AgedRecord, minutesAgo: number): Promise<void> {
  const ids = { user: await givenUser(em()), client: await givenOAuthClient(em()), name: randomUUID() };
  const values = Object.values(columns).map((value) =>
    value.replace(/\?(user|client|name)/, (_, id: keyof typeof ids) => `'${ids[id]}'`),
  );
  const names = [...Object.keys(columns), column].map((name) => `"${name}"`);
  const time = `now() - interval '${minutesAgo} minutes'`;
  await execute(`insert into ${table} (${names.join()}) values (${[...values, time].join()})`);
}

async function countRows(table: string): Promise<number> {
  const [row] = await execute<{ count: number }>(`select count(*)::int as count from ${table}`);
  return row!.count;
}

test.each(RECORDS)("a record of $table is purged $keptHours hours after $column, and not before", async (record) => {
  await purge();
  const before = await countRows(record.table);
  await insertRecord(record, record.keptHours * 60 - 5);
  expect(await purge()).toBe(0);
  await insertRecord(record, record.keptHours * 60 + 5);
  await insertRecord(record, record.keptHours * 60 + 6);
  expect(await purge()).toBe(2);
  expect(await countRows(record.table)).toBe(before + 1);
});

test("counts of usage are purged 13 months after their month began", async () => {
  const { org_id: orgId } = await service().tenant();
  await execute(
    `insert into usage_counts (org_id, period, metric, subject_id, count)
     select ?, to_char(date_trunc('month', now()) - months * interval '1 month', 'YYYY-MM'), metric, gen_random_uuid(), 1
     from unnest(array[0, 12, 14]) as months, unnest(array['requests', 'programs']) as metric`,
    [orgId],
  );
  expect(await purge()).toBe(2);
  const [kept] = await execute("select count(distinct period)::int as periods from usage_counts where org_id = ?", [
    orgId,
  ]);
  expect(kept).toEqual({ periods: 2 });
});

test("a token that is valid is not purged, however old it is", async () => {
  const { rest } = await service().tenant();
  await execute("update machine_tokens set created_at = now() - interval '1000 days'");
  expect([await purge(), (await rest.get("/v1/apps")).status]).toEqual([0, 200]);
});

interface GivenClient {
  createdDaysAgo: number;
  updatedDaysAgo?: number;
  lastUsedDaysAgo?: number;
  skipsConsent?: boolean | null;
  hasConsent?: boolean;
}

const ago = (days: number | undefined) => (days === undefined ? "null" : `now() - interval '${days} days'`);

async function givenClient(client: GivenClient): Promise<string> {
  const { createdDaysAgo, updatedDaysAgo = createdDaysAgo, lastUsedDaysAgo, skipsConsent = false } = client;
  const clientId = await givenOAuthClient(em());
  await execute(
    `update auth."oauthClient" set "createdAt" = ${ago(createdDaysAgo)}, "updatedAt" = ${ago(updatedDaysAgo)},
     "lastUsedAt" = ${ago(lastUsedDaysAgo)}, "skipConsent" = ${skipsConsent} where "clientId" = ?`,
    [clientId],
  );
  if (client.hasConsent === true)
    await execute(
      `insert into auth."oauthConsent" ("clientId", "userId", scopes, "createdAt", "updatedAt") values (?, ?, '[]', now(), now())`,
      [clientId, await givenUser(em())],
    );
  return clientId;
}

test.each<[string, isKept: boolean, GivenClient]>([
  ["registered 6 days ago and never used", true, { createdDaysAgo: 6 }],
  ["registered 8 days ago and never used", false, { createdDaysAgo: 8 }],
  ["registered 8 days ago, without a setting for consent", false, { createdDaysAgo: 8, skipsConsent: null }],
  ["never used, whose record was updated 6 days ago", true, { createdDaysAgo: 100, updatedDaysAgo: 6 }],
  ["that an operator set up", true, { createdDaysAgo: 1000, skipsConsent: true }],
  [
    "that an operator set up and that was used long ago",
    true,
    { createdDaysAgo: 1000, lastUsedDaysAgo: 1000, skipsConsent: true },
  ],
  ["with consent, registered 89 days ago", true, { createdDaysAgo: 89, hasConsent: true }],
  ["with consent, registered 91 days ago and never used", false, { createdDaysAgo: 91, hasConsent: true }],
  ["used 89 days ago", true, { createdDaysAgo: 1000, lastUsedDaysAgo: 89, hasConsent: true }],
  ["used 91 days ago", false, { createdDaysAgo: 1000, lastUsedDaysAgo: 91, hasConsent: true }],
  [
    "used 91 days ago, whose record was updated 89 days ago",
    true,
    { createdDaysAgo: 1000, updatedDaysAgo: 89, lastUsedDaysAgo: 91 },
  ],
])("an OAuth client %s is kept: %s", async (_description, isKept, client) => {
  await purge();
  const clientId = await givenClient(client);
  expect(await purge()).toBe(isKept ? 0 : 1);
  expect(await execute(`select 1 from auth."oauthClient" where "clientId" = ?`, [clientId])).toHaveLength(
    isKept ? 1 : 0,
  );
});

const insertEvents = (count: number, daysAgo: number) =>
  execute(
    `insert into audit_events (id, action, outcome, created_at)
     select gen_random_uuid(), 'old', 'done', ${ago(daysAgo)} from generate_series(1, ?)`,
    [count],
  );

test("audit events are purged after the given number of days, and never without a number", async () => {
  await insertEvents(1, 365);
  await insertEvents(3, 11);
  await insertEvents(1, 9);
  expect(await purge(null)).toBe(0);
  expect(await purge(10)).toBe(4);
  expect(await purge(10)).toBe(0);
  expect(await execute("select 1 from audit_events where action = 'old'")).toHaveLength(1);
});

test("one call purges at most 10,000 records by one rule, the oldest first", async () => {
  await insertEvents(10_001, 20);
  await insertEvents(1, 21);
  expect(await purge(10)).toBe(10_000);
  expect(await execute(`select 1 from audit_events where created_at < now() - interval '20.5 days'`)).toEqual([]);
  expect(await purge(10)).toBe(2);
});

test("a record that a transaction has locked is left to the next call", async () => {
  await insertEvents(2, 20);
  await em().transactional(async (tx) => {
    await tx.execute("select 1 from audit_events where created_at < now() - interval '19 days' limit 1 for update");
    expect(await purge(10)).toBe(1);
  });
  expect(await purge(10)).toBe(1);
});
