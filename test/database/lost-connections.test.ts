import { readFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import { expect, test } from "vitest";
import { ConnectionPool } from "../../server/database/connection-pool.ts";
import { databaseFolder, EmbeddedPostgres } from "../../server/database/embedded/embedded-postgres.ts";
import { openOrm } from "../../server/database/orm.ts";
import { PoolWatchdog } from "../../server/database/pool-watchdog.ts";
import { inTransaction } from "../../domain/shared/transaction.ts";
import { givenSession } from "../support/service/given-session.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import { createTestDatabase } from "../support/service/test-databases.ts";
import { hazard, verifies } from "../support/verifies.ts";

/** `npm run test:crash` terminates the connections more often. */
const OUTAGES = Number(process.env["TEST_KILLS"] ?? 3);
const WRITERS = 30;
const READERS = 30;
const STATUSES_OF_OUTAGE = new Set([200, 201, 503]);

/** Ends every connection of the service to its database, as a failover or an administrator does. */
async function terminateConnections(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  await client.end();
}

/** Terminates the connections, or kills every second time the embedded server, which the service starts again. */
async function loseConnections({ config }: Harness, url: string, outage: number): Promise<void> {
  if (config.databaseUrl !== null || outage % 2 === 0) return terminateConnections(url);
  const lockFile = await readFile(path.join(databaseFolder(config.dataDirectory), "data/postmaster.pid"), "utf8");
  process.kill(Number(lockFile.split("\n", 1)[0]), "SIGKILL");
}

/** The connection string of the service's database, and what releases it. */
function addressOf({ config }: Harness): { url: string; release(): void } {
  const { databaseUrl, dataDirectory } = config;
  if (databaseUrl !== null) return { url: databaseUrl, release: () => undefined };
  return EmbeddedPostgres.connect(databaseFolder(dataDirectory));
}

interface Load {
  /** The texts of the entries whose requests were acknowledged. */
  acknowledged: string[];
  /** The statuses of all responses. */
  statuses: Set<number>;
}

/** Appends entries to one session and lists apps, until `signal` is aborted. */
async function generateLoad(
  { rest }: Tenant,
  { sessionId, outage }: { sessionId: string; outage: number },
  load: Load,
  signal: AbortSignal,
): Promise<void> {
  const append = async (writer: number): Promise<void> => {
    for (let n = 0; !signal.aborted; n++) {
      const content = `${outage}.${writer}.${n}`;
      const entries = [{ id: content, role: "user", content }];
      const { status } = await rest.post(`/v1/sessions/${sessionId}/entries`, { entries });
      load.statuses.add(status);
      if (status < 300) load.acknowledged.push(content);
    }
  };
  const read = async (): Promise<void> => {
    while (!signal.aborted) load.statuses.add((await rest.get("/v1/apps")).status);
  };
  await Promise.all([
    ...Array.from({ length: WRITERS }, (_, writer) => append(writer)),
    ...Array.from({ length: READERS }, read),
  ]);
}

async function readContents({ rest }: Tenant, sessionId: string): Promise<Set<string>> {
  const contents = new Set<string>();
  for (let query = "?limit=200"; ;) {
    const { body } = await rest.get(`/v1/sessions/${sessionId}/transcript${query}`);
    const { entries, before } = body as unknown as { entries: { content: string }[]; before: number | null };
    for (const { content } of entries) contents.add(content);
    if (before === null) return contents;
    query = `?limit=200&before=${before}`;
  }
}

for (const [kind, config] of [
  ["an outside PostgreSQL", {}],
  ["the embedded PostgreSQL", { databaseUrl: null }],
] as const)
  verifies(
    hazard(43),
    `after each of ${OUTAGES} losses of all connections to ${kind} under load, no acknowledged write and no connection of the pool is lost`,
    async () => {
      await using harness = await createHarness({ config });
      const { connections } = harness.service.parts;
      const tenant = await harness.tenant();
      const { rest } = tenant;
      const { session_id: sessionId } = await givenSession(rest);
      const load: Load = { acknowledged: [], statuses: new Set() };
      const address = addressOf(harness);
      for (let outage = 0; outage < OUTAGES; outage++) {
        const stop = new AbortController();
        const before = load.acknowledged.length;
        const running = generateLoad(tenant, { sessionId, outage }, load, stop.signal);
        await expect.poll(() => load.acknowledged.length).toBeGreaterThan(before + WRITERS);
        await loseConnections(harness, address.url, outage);
        await expect.poll(async () => (await rest.get("/readyz")).status).toBe(200);
        const after = load.acknowledged.length;
        await expect.poll(() => load.acknowledged.length).toBeGreaterThan(after + WRITERS);
        stop.abort();
        await running;
        // Work of the service itself uses a connection for a moment. A lost one would be in use forever.
        await expect.poll(() => connections.counts).toMatchObject({ used: 0, waiting: 0 });
      }
      address.release();
      expect([...load.statuses].filter((status) => !STATUSES_OF_OUTAGE.has(status))).toEqual([]);
      const contents = await readContents(tenant, sessionId);
      expect(load.acknowledged.filter((content) => !contents.has(content))).toEqual([]);
    },
  );

test("a transaction whose connection is lost before its BEGIN, COMMIT or ROLLBACK keeps no connection of the pool", async () => {
  await using database = await createTestDatabase();
  const connections = new ConnectionPool(5);
  const orm = openOrm(database.databaseUrl, connections);
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const transactions = ["commit", "rollback"].map((how) =>
    inTransaction(orm.em, async (em) => {
      await em.execute("select 1");
      await ended;
      if (how === "rollback") throw new Error("work fails");
    }),
  );
  await expect.poll(() => connections.counts.used).toBe(2);
  await terminateConnections(database.databaseUrl);
  await expect.poll(() => connections.counts).toEqual({ open: 0, used: 0, waiting: 0 });
  end();
  await allRejected(transactions);
  for (let n = 0; n < 2 * connections.size; n++) await inTransaction(orm.em, (em) => em.execute("select 1"));
  expect(connections.counts.used).toBe(0);
  await orm.close();
});

test("the watchdog replaces connections that are in use without end, and logs it once", async () => {
  await using database = await createTestDatabase();
  const url = database.databaseUrl;
  const connections = new ConnectionPool(5);
  const orm = openOrm(url, connections);
  const logged: object[] = [];
  const log = { warn: (details: object) => void logged.push(details) };
  const endless = allRejected(
    Array.from({ length: connections.size }, () => orm.em.fork().execute("select pg_sleep(600)")),
  );
  await expect.poll(() => connections.counts.used).toBe(connections.size);
  const waiting = orm.em.fork().execute("select 1 as one");
  await using _watchdog = new PoolWatchdog({ orm, connections, url }, log, {
    pauseMs: 10,
    responseMs: 2000,
    silenceMs: 1,
  });
  for (const { reason } of await endless) expect(reason).toMatchObject({ code: "DATABASE_NO_CONNECTION" });
  expect(await waiting).toEqual([{ one: 1 }]);
  expect(logged).toEqual([expect.objectContaining({ used: connections.size, waiting: expect.any(Number) })]);
  await orm.close();
});

test("the watchdog leaves the connections alone while the database does not respond either", async () => {
  const connections = new ConnectionPool(5);
  // Nothing listens on this port.
  const url = "postgres://nobody@127.0.0.1:9/none";
  const orm = openOrm(url, connections);
  const logged: object[] = [];
  const times = { pauseMs: 1, responseMs: 500, silenceMs: 1 };
  const watchdog = new PoolWatchdog({ orm, connections, url }, { warn: (details) => void logged.push(details) }, times);
  await delay(200);
  await watchdog[Symbol.asyncDispose]();
  expect(logged).toEqual([]);
  await orm.close();
});

async function allRejected(works: readonly Promise<unknown>[]): Promise<PromiseRejectedResult[]> {
  const outcomes = await Promise.allSettled(works);
  expect(outcomes.map(({ status }) => status)).toEqual(works.map(() => "rejected"));
  return outcomes as PromiseRejectedResult[];
}
