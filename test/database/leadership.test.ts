import pg from "pg";
import { expect, test } from "vitest";
import { Leadership } from "../../server/database/leadership.ts";
import { createTestDatabase } from "../support/service/test-databases.ts";

const log = { info: () => undefined, warn: () => undefined };

test("one process does the work, and another one takes over when it ends or loses its connection", async () => {
  await using database = await createTestDatabase();
  const url = database.databaseUrl;
  const leaders = new Set<string>();
  let terms = 0;
  const lead = (name: string) =>
    new Leadership({
      url,
      log,
      begin() {
        leaders.add(name);
        terms += 1;
        return { [Symbol.asyncDispose]: async () => void leaders.delete(name) };
      },
    });
  await using stack = new AsyncDisposableStack();
  const first = lead("first");
  stack.defer(() => first[Symbol.asyncDispose]());
  await expect.poll(() => [...leaders]).toEqual(["first"]);
  stack.use(lead("second"));
  await first[Symbol.asyncDispose]();
  expect([...leaders]).toEqual([]);
  await expect.poll(() => [...leaders]).toEqual(["second"]);

  stack.use(lead("third"));
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  stack.defer(() => client.end());
  await client.query(
    "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and granted and database = (select oid from pg_database where datname = current_database())",
  );
  await expect.poll(() => terms).toBe(3);
  await expect.poll(() => leaders.size).toBe(1);
});
