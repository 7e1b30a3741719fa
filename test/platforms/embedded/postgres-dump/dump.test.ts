import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { splitScript } from "../../../../server/platforms/embedded/postgres/dump/split-script.ts";
import { describeDatabase } from "./describe-database.ts";
import { DumpHarness } from "./dump-harness.ts";
import { GIVEN_SCHEMA } from "./given-schema.ts";

let harness: DumpHarness;
beforeAll(async () => {
  harness = await DumpHarness.open();
});
afterAll(() => harness[Symbol.asyncDispose]());

async function givenDatabase(sql: string): Promise<string> {
  const id = harness.newId();
  await (await harness.connect(id)).query(sql);
  return id;
}

async function describe(id: string): Promise<Record<string, string[]>> {
  const { name } = await harness.postgres.open(id);
  return describeDatabase(await harness.connectAsSuperuser(name));
}

async function readValues(id: string, sql: string): Promise<unknown[]> {
  const { rows } = await (await harness.connect(id)).query<unknown[]>({ text: sql, rowMode: "array" });
  return rows[0] ?? [];
}

test("a restored database has the same schema and rows as the exported one", async () => {
  const id = await givenDatabase(GIVEN_SCHEMA);
  const dump = await harness.export(id);
  const copy = await harness.import(dump);
  const described = await describe(id);
  expect(await describe(copy)).toEqual(described);
  // So has the copy of a copy.
  expect(await describe(await harness.import(await harness.export(copy)))).toEqual(described);
  const { name } = await harness.postgres.open(id);
  expect(Object.values(dump).join("")).not.toContain(name);
  // A connection has taken four values of the first one.
  expect(await readValues(copy, "select nextval('counted'), nextval('untouched')")).toEqual(["-7", "1"]);
  const owner = "select count(*)::int from pg_class where relnamespace = 'public'::regnamespace";
  const [all] = await readValues(copy, owner);
  expect(await readValues(copy, `${owner} and relowner = current_user::regrole`)).toEqual([all]);
});

test("an empty database can be exported and restored", async () => {
  const id = await givenDatabase("select 1");
  expect(Object.keys(await harness.export(id))).toEqual(["0-schema.sql", "2-constraints.sql"]);
  expect(await describe(await harness.import(await harness.export(id)))).toEqual(await describe(id));
});

test("an export has the rows of one moment while the app changes them", async () => {
  const id = await givenDatabase(`create table a (n int); create table z (n int); create table emptied (n int);
    insert into a select generate_series(1, 1000); insert into emptied select generate_series(1, 1000)`);
  const writing = new AbortController();
  const move = async (from: string, to: string) => {
    const client = await harness.connect(id);
    while (!writing.signal.aborted)
      await client.query(`with moved as (delete from ${from} where ctid in (select ctid from ${from} limit 7) returning n)
        insert into ${to} select n from moved`);
  };
  const rewrite = async () => {
    const client = await harness.connect(id);
    while (!writing.signal.aborted) {
      await client.query("begin; truncate emptied; insert into emptied select generate_series(1, 1000); commit");
      await sleep(5);
    }
  };
  const writers = [move("a", "z"), move("z", "a"), rewrite()];
  const ended = Promise.all(writers);
  ended.catch(() => undefined);
  for (let turn = 0; turn < 3; turn++) {
    const copy = await harness.import(await harness.export(id));
    const counts = `select (select count(*) from (select n from a union select n from z) it)::int,
      (select count(*) from a)::int + (select count(*) from z)::int, (select count(*) from emptied)::int`;
    expect(await readValues(copy, counts)).toEqual([1000, 1000, 1000]);
  }
  writing.abort();
  await ended;
});

test("what a dump cannot have is refused by its name", async () => {
  const large = await givenDatabase("select lo_from_bytea(0, 'a')");
  await expect(harness.export(large)).rejects.toThrow(
    "The app's database has large objects, which cannot be exported.",
  );
  const { name: other } = await harness.postgres.open(harness.newId());
  const policy = await givenDatabase(`create table t (n int); create policy "for others" on t to ${other}`);
  await expect(harness.export(policy)).rejects.toThrow(
    `The app's database has the policy "for others" of another role, which cannot be exported.`,
  );
});

test("an interrupted restoration can be repeated, and ends with its signal", async () => {
  const dump = await harness.export(
    await givenDatabase("create table t (n int); insert into t select generate_series(1, 1000)"),
  );
  const waiting = { ...dump, "2-constraints.sql": "select pg_sleep(600)" };
  const id = harness.newId();
  const stop = new AbortController();
  const restoring = harness.import(waiting, { id, signal: stop.signal });
  const isWaiting = `select count(*)::int as n from pg_stat_activity where query = 'select pg_sleep(600)'`;
  const admin = await harness.connectAsSuperuser();
  const count = async () => (await admin.query<{ n: number }>(isWaiting)).rows[0]?.n;
  await expect.poll(count).toBe(1);
  stop.abort(new Error("the worker stops"));
  await expect(restoring).rejects.toThrow("the worker stops");
  await expect.poll(count).toBe(0);
  // Another attempt, also while the one before goes on, has an empty database.
  const stuck = harness.import(waiting, { id }).catch(({ message }: Error) => message);
  await expect.poll(count).toBe(1);
  await harness.import(dump, { id });
  expect(await stuck).toContain("file: the connection that restores the database was ended.");
  expect(await readValues(id, "select count(*)::int from t")).toEqual([1000]);
});

test("a script of a stranger is split in linear time", () => {
  for (const repeated of [
    String.raw`E''`,
    "E'a",
    "'",
    "$a$",
    "$$",
    "/*",
    '"',
    "--",
    "(",
    "create function f begin ",
    "a;",
  ]) {
    const script = repeated.repeat(500_000);
    let length = 0;
    for (const part of splitScript(script)) length += part.length;
    expect(length).toBe(script.length);
  }
});

test("a script is split at the ends of its statements only", () => {
  const parts = [
    `create function f() returns int language sql begin atomic; select case when 1 > 0 then 1 end; select 2; end;`,
    String.raw`select E'a\';''b', ';', ";", U&"\003b;"; `,
    `create or replace procedure p() as $a$ begin; $b$ ; $a$ language plpgsql;`,
    `create function "begin"() returns int as 'select 1;' language sql; -- a ; comment 'with a quote`,
    `create rule r as on insert to t do instead (select 1; select 2);`,
    `select '${"x".repeat(300_000)};' /* ; */;`,
    `create table begin_end (a int); comment on table begin_end is 'it''s; done';`,
  ];
  const script = parts.join("\n");
  expect([...splitScript(script)].join("")).toBe(script);
  for (const part of parts) {
    const ends = [...splitScript(`${part}\nselect 1;\n`.repeat(50))];
    expect(ends.join("")).toBe(`${part}\nselect 1;\n`.repeat(50));
    for (const piece of ends.slice(0, -1))
      expect(piece).toMatch(/(?:select 1|end|; |plpgsql|sql|\)|\*\/|done'|b;")\s*;?\s*$/);
  }
});
