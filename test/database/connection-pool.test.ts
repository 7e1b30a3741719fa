import { afterAll, beforeAll, expect, test } from "vitest";
import { translateDatabaseOutage } from "../../domain/shared/database-outage.ts";
import { inLockedTransaction, inTransaction, runForOrganization } from "../../domain/shared/transaction.ts";
import { ConnectionPool } from "../../server/database/connection-pool.ts";
import { openOrm, type Orm } from "../../server/database/orm.ts";
import { createTestDatabase, type TestDatabase } from "../support/service/test-databases.ts";

const SIZE = 10;
/** Of one organization: half of the pool, and of that all but one for transactions. */
const SHARE = 5;

let database: TestDatabase;
beforeAll(async () => void (database = await createTestDatabase()));
afterAll(() => database[Symbol.asyncDispose]());

interface OpenPool extends AsyncDisposable {
  orm: Orm;
  connections: ConnectionPool;
  /** Ends the transactions of `hold`. */
  release(): void;
  /** Starts transactions of an organization that last until `release`. */
  hold(orgId: string | null, count: number, locks?: readonly string[]): Promise<unknown>;
  /** Runs a statement without a transaction. */
  read(orgId: string): Promise<unknown>;
}

function openPool(waitMs?: number): OpenPool {
  const connections = new ConnectionPool(SIZE, waitMs);
  const orm = openOrm(database.databaseUrl, connections);
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const works: Promise<unknown>[] = [];
  const asOrganization = <T>(orgId: string | null, work: () => T): T =>
    orgId === null ? work() : runForOrganization(orgId, work);
  return {
    orm,
    connections,
    release,
    hold: (orgId, count, locks = []) => {
      const started = Array.from({ length: count }, () =>
        asOrganization(orgId, () =>
          inLockedTransaction(orm.em, locks, async (em) => {
            await em.execute("select 1");
            await released;
          }),
        ),
      );
      works.push(...started);
      return Promise.all(started);
    },
    read: (orgId) => asOrganization(orgId, () => orm.em.fork().execute("select 1 as one")),
    [Symbol.asyncDispose]: async () => {
      release();
      await Promise.allSettled(works);
      await orm.close();
    },
  };
}

test("transactions of one organization use less than half of the connections, and its reads do not wait for them", async () => {
  await using pool = openPool();
  const held = pool.hold("a", 20);
  await expect.poll(() => pool.connections.counts).toMatchObject({ used: SHARE - 1, waiting: 20 - (SHARE - 1) });
  expect(await pool.read("a")).toEqual([{ one: 1 }]);
  pool.release();
  await held;
  expect(pool.connections.counts).toMatchObject({ used: 0, waiting: 0 });
});

test("while several organizations have more transactions than connections, every organization can read", async () => {
  await using pool = openPool();
  for (const orgId of ["a", "b", "c", "d"]) void pool.hold(orgId, 20);
  await expect.poll(() => pool.connections.counts.used).toBe(SIZE - 2);
  for (const orgId of ["a", "b", "c", "d", "e"]) expect(await pool.read(orgId)).toEqual([{ one: 1 }]);
});

test("the transaction of another organization starts before those that one organization has queued earlier", async () => {
  await using pool = openPool();
  void pool.hold("a", 20);
  await expect.poll(() => pool.connections.counts.used).toBe(SHARE - 1);
  expect(
    await runForOrganization("b", () => inTransaction(pool.orm.em, async (em) => em.execute("select 2 as two"))),
  ).toEqual([{ two: 2 }]);
});

test("a transaction that waits for a lock of this process has no connection", async () => {
  await using pool = openPool();
  void pool.hold("a", 4, ["documents of a"]);
  await expect.poll(() => pool.connections.counts.used).toBe(1);
  for (let n = 0; n < 3; n++) expect(await pool.read("a")).toEqual([{ one: 1 }]);
  expect(pool.connections.counts.used).toBe(1);
});

test("transactions with several locks in common run one at a time, in whatever order they name them", async () => {
  await using pool = openPool();
  const log: string[] = [];
  const run = (name: string, locks: string[]) =>
    inLockedTransaction(pool.orm.em, locks, async (em) => {
      log.push(`${name} starts`);
      await em.execute("select pg_sleep(0.01)");
      log.push(`${name} ends`);
    });
  await Promise.all([run("first", ["x", "y"]), run("second", ["y", "x"]), run("third", ["x"])]);
  const order = log.filter((line) => line.endsWith("starts")).map((line) => line.replace(" starts", ""));
  expect([order.toSorted(), log]).toEqual([
    ["first", "second", "third"],
    order.flatMap((name) => [`${name} starts`, `${name} ends`]),
  ]);
});

test("a lock blocks transactions of another process that name it", async () => {
  await using pool = openPool();
  await using other = openPool();
  void pool.hold("a", 1, ["shared"]);
  await expect.poll(() => pool.connections.counts.used).toBe(1);
  const log: string[] = [];
  const second = inLockedTransaction(other.orm.em, ["shared"], async () => void log.push("second"));
  const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'";
  await expect.poll(() => pool.orm.em.fork().execute(waiting)).toHaveLength(1);
  expect(log).toEqual([]);
  pool.release();
  await second;
  expect(log).toEqual(["second"]);
});

test("a statement that waits too long for a connection says that the database is busy, and not that it is away", async () => {
  await using pool = openPool(20);
  const sleeping = Array.from({ length: SIZE }, () => pool.orm.em.fork().execute("select pg_sleep(0.5)"));
  await expect.poll(() => pool.connections.counts.used).toBe(SIZE);
  const error = await pool.read("a").catch((reason: unknown) => translateDatabaseOutage(reason));
  expect(error).toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("busy, and nothing was changed"),
  });
  await Promise.all(sleeping);
});
