import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import { deleteSessions, removeDeletedEntries } from "../../../domain/retention/deleted-sessions.ts";
import { sharedDatabase } from "../../support/database/shared-database.ts";

const orm = sharedDatabase();
const db = () => queryBuilderOf(orm().em.fork());
const execute = <T>(sql: string, values: unknown[] = []) => orm().em.fork().execute<T[]>(sql, values);

/** Returns how many entries each session has, and whether it is to be removed. */
async function stateOf(...ids: string[]): Promise<[entries: number, isDeleted: boolean][]> {
  const states: [number, boolean][] = [];
  for (const id of ids) {
    const entries = await execute("select seq from session_entries where session_id = ?", [id]);
    const deleted = await execute("select id from deleted_sessions where id = ?", [id]);
    states.push([entries.length, deleted.length === 1]);
  }
  return states;
}

async function givenEntries(count: number, { agentId = randomUUID() }: { agentId?: string } = {}): Promise<string> {
  const [id, serverId] = [randomUUID(), randomUUID()];
  await execute(
    `insert into sessions (id, org_id, server_id, agent_id, external_id, message_count, created_at, updated_at)
     values (?, ?, ?, ?, 'run', 0, now(), now())`,
    [id, randomUUID(), serverId, agentId],
  );
  await execute(
    `insert into session_entries (session_id, seq, server_id, entry_id, role, content, created_at)
     select ?, n, ?, 'e' || n, 'user', 'Text', now() from generate_series(1, ${count}) n`,
    [id, serverId],
  );
  return id;
}

const remove = (maxBatches = 10) => removeDeletedEntries(db(), { maxBatches });

test("the entries of deleted sessions are removed, 10,000 in a transaction, and those of other sessions stay", async () => {
  const [long, short, kept] = [await givenEntries(20_001), await givenEntries(2), await givenEntries(3)];
  await deleteSessions(db(), "id", [long, short]);
  expect(await execute("select id from sessions where id in (?, ?, ?)", [long, short, kept])).toEqual([{ id: kept }]);
  expect(await stateOf(long, short, kept)).toEqual([
    [20_001, true],
    [2, true],
    [3, false],
  ]);
  expect(await remove(1)).toBe(10_000);
  expect((await stateOf(long))[0]?.[1]).toBe(true);
  expect(await remove(1)).toBe(10_000);
  expect(await remove()).toBe(3);
  expect(await stateOf(long, short, kept)).toEqual([
    [0, false],
    [0, false],
    [3, false],
  ]);
  expect(await remove()).toBe(0);
});

test("the sessions of an agent are deleted, and no others", async () => {
  const agentId = randomUUID();
  const own = [await givenEntries(1, { agentId }), await givenEntries(1)];
  await deleteSessions(db(), "agent_id", []);
  expect(await stateOf(...own)).toEqual([
    [1, false],
    [1, false],
  ]);
  await deleteSessions(db(), "agent_id", [agentId]);
  expect(await remove(1)).toBe(1);
  expect(await stateOf(...own)).toEqual([
    [0, false],
    [1, false],
  ]);
});

test("a session whose entries another process is removing is left to it", async () => {
  const id = await givenEntries(2);
  await deleteSessions(db(), "id", [id]);
  await db()
    .transaction()
    .execute(async (tx) => {
      await tx.selectFrom("deleted_sessions").select("id").where("id", "=", id).forUpdate().execute();
      expect(await remove()).toBe(0);
    });
  expect(await remove()).toBe(2);
});
