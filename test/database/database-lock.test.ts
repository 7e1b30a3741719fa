import pg from "pg";
import { expect, test } from "vitest";
import { DatabaseInUse, DatabaseLock } from "../../server/database/database-lock.ts";
import { eventually } from "../support/edge/test-platform.ts";
import { createTestDatabase } from "../support/service/test-databases.ts";

const HOLDER = `select pid, (classid::bigint << 32 | objid::bigint) as lock from pg_locks
  where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())`;

/** A database whose lock this process has, and a connection of the test. */
async function setUp() {
  const stack = new AsyncDisposableStack();
  const { databaseUrl } = stack.use(await createTestDatabase());
  const taken = Promise.withResolvers<Error>();
  const options = { url: databaseUrl, onTaken: taken.resolve, onWait: () => undefined };
  stack.use(await DatabaseLock.acquire(options));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  stack.defer(() => client.end());
  const readHolder = async () => (await client.query<{ pid: number; lock: string }>(HOLDER)).rows[0];
  return { options, client, taken: taken.promise, readHolder, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test("a second process cannot lock the database", async () => {
  await using t = await setUp();
  await expect(DatabaseLock.acquire(t.options)).rejects.toThrow(DatabaseInUse);
});

test("a process that loses its connection locks the database again", async () => {
  await using t = await setUp();
  const before = (await t.readHolder())!;
  await t.client.query("select pg_terminate_backend($1)", [before.pid]);
  const after = await eventually(async () => {
    const holder = await t.readHolder();
    return holder === undefined || holder.pid === before.pid ? undefined : holder;
  });
  expect(after.lock).toBe(before.lock);
});

test("a process is notified when another one has locked the database while its connection was lost", async () => {
  await using t = await setUp();
  const { pid, lock } = (await t.readHolder())!;
  const other = new pg.Client({ connectionString: t.options.url });
  await other.connect();
  try {
    // Waits for the lock, and so gets it before the process can connect again.
    const locked = other.query("select pg_advisory_lock($1)", [lock]);
    await eventually(async () => {
      const { rows } = await t.client.query("select 1 from pg_locks where locktype = 'advisory' and not granted");
      return rows.length > 0 ? true : undefined;
    });
    await t.client.query("select pg_terminate_backend($1)", [pid]);
    await locked;
    expect(await t.taken).toBeInstanceOf(DatabaseInUse);
  } finally {
    await other.end();
  }
});
