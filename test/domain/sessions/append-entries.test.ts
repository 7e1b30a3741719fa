import { beforeAll, expect, test } from "vitest";
import { appendEntries } from "../../../domain/sessions/append-entries.ts";
import { DeletedSession } from "../../../domain/sessions/deleted-session.entity.ts";
import { SESSION_LIMITS } from "../../../domain/sessions/session-rules.ts";
import { SessionEntry } from "../../../domain/sessions/session-entry.entity.ts";
import { Session } from "../../../domain/sessions/session.entity.ts";
import type { NewEntry } from "../../../domain/sessions/transcript-entry.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { openOrm } from "../../../server/database/orm.ts";
import { givenSession, sampleEntries } from "../../support/service/given-session.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { mainAgentId } from "../../support/service/main-agent.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let caller: Caller;

beforeAll(async () => {
  tenant = await service().tenant();
  const credential = { kind: "api_key", id: "test" } as const;
  caller = { orgId: tenant.org_id, userId: null, role: "admin", scope: "everything", credential };
});

const em = () => service().service.parts.orm.em.fork();

/** Checks that the entries have no gap and no duplicate, and that the counters are their sums. */
async function expectExact(sessionId: string, ids: readonly string[]): Promise<SessionEntry[]> {
  const entries = await em().find(SessionEntry, { sessionId }, { orderBy: { seq: "asc" } });
  expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: ids.length }, (_, index) => index + 1));
  expect(entries.map(({ entryId }) => entryId).toSorted()).toEqual(ids.toSorted());
  const sum = (column: "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWriteTokens") =>
    String(entries.reduce((total, entry) => total + Number(entry[column]), 0));
  expect(await em().findOneOrFail(Session, { id: sessionId })).toMatchObject({
    messageCount: ids.length,
    inputTokens: sum("inputTokens"),
    outputTokens: sum("outputTokens"),
    cacheReadTokens: sum("cacheReadTokens"),
    cacheWriteTokens: sum("cacheWriteTokens"),
  });
  return entries;
}

test("two processes append overlapping batches at the same time without a gap or a duplicate, and with exact counters", async () => {
  const { session_id: sessionId } = await givenSession(tenant.rest);
  const { databaseUrl } = service().config;
  const other = openOrm(String(databaseUrl));
  try {
    const all = sampleEntries(300);
    const appends = Array.from({ length: 24 }, (_, index) => {
      const batch = all.slice(index * 10, index * 10 + 70);
      const root = index % 2 === 0 ? service().service.parts.orm.em : other.em;
      return appendEntries({ em: root }, caller, { sessionId, entries: index % 3 === 0 ? batch.toReversed() : batch });
    });
    const results = await Promise.all(appends);
    expect(results.reduce((sum, { added }) => sum + added, 0)).toBe(300);
    expect(Math.max(...results.map(({ last_seq: last }) => last))).toBe(300);
    await expectExact(
      sessionId,
      all.map(({ id }) => id),
    );
  } finally {
    await other.close();
  }
});

test("an agent's sessions that get entries of several months at the same time are counted exactly", async () => {
  const sessions = await Promise.all([1, 2, 3, 4].map(() => givenSession(tenant.rest)));
  const inMonth = (entries: NewEntry[], month: number) =>
    entries.map((entry, index) => ({ ...entry, created_at: `2026-0${((month + index) % 3) + 1}-05T00:00:00Z` }));
  const before = await countsOf(sessions[0]!.agent_id);
  await Promise.all(
    sessions.flatMap(({ session_id: sessionId }, at) =>
      [0, 1, 2].map((part) =>
        appendEntries(service().service.parts.orm, caller, {
          sessionId,
          entries: inMonth(sampleEntries(30, part * 30), at),
        }),
      ),
    ),
  );
  for (const period of ["2026-01", "2026-02", "2026-03"])
    for (const [metric, each] of [
      ["session_entries", 1],
      ["input_tokens", 1],
      ["output_tokens", 2],
      ["cache_read_tokens", 3],
      ["cache_write_tokens", 4],
    ] as const) {
      const key = `${period} ${metric}`;
      const added = ((await countsOf(sessions[0]!.agent_id)).get(key) ?? 0) - (before.get(key) ?? 0);
      expect([key, added]).toEqual([key, 120 * each]);
    }
});

async function countsOf(agentId: string): Promise<Map<string, number>> {
  const rows = await em().execute<{ period: string; metric: string; count: string }[]>(
    "select period, metric, count from usage_counts where subject_id = ?",
    [agentId],
  );
  return new Map(rows.map(({ period, metric, count }) => [`${period} ${metric}`, Number(count)]));
}

test("entries without a usage are counted without tokens", async () => {
  const { rest } = await service().tenant();
  await givenSession(rest, { entries: [{ id: "e1", role: "user", content: "Hello" }] });
  const agentId = await mainAgentId(rest);
  expect([...(await countsOf(agentId)).keys()]).toEqual([expect.stringMatching(/ session_entries$/)]);
});

test("an append that fails stores and counts nothing", async () => {
  const { session_id: sessionId, agent_id: agentId } = await givenSession(tenant.rest, { entries: sampleEntries(2) });
  const counts = await countsOf(agentId);
  await em().nativeUpdate(Session, { id: sessionId }, { messageCount: SESSION_LIMITS.entriesPerSession });
  const rejected = appendEntries(service().service.parts.orm, caller, { sessionId, entries: sampleEntries(1, 3) });
  await expect(rejected).rejects.toMatchObject({ code: "conflict", message: /at most 1000000 entries/ });
  await em().nativeUpdate(Session, { id: sessionId }, { messageCount: 2 });
  await expectExact(sessionId, ["e1", "e2"]);
  expect(await countsOf(agentId)).toEqual(counts);
});

test("the largest numbers of tokens are added exactly", async () => {
  const { session_id: sessionId } = await givenSession(tenant.rest);
  const usage = { input: SESSION_LIMITS.tokens, output: SESSION_LIMITS.tokens, cache_read: 0, cache_write: 1 };
  const entries = sampleEntries(1000).map((entry) => ({ ...entry, usage }));
  await appendEntries(service().service.parts.orm, caller, { sessionId, entries });
  expect((await tenant.rest.get(`/v1/sessions/${sessionId}`)).body["tokens"]).toEqual({
    input: 1e12,
    output: 1e12,
    cache_read: 0,
    cache_write: 1000,
    total: 2e12 + 1000,
  });
});

test("with a gateway token, an agent appends only to its own sessions", async () => {
  const { session_id: sessionId, agent_id: agentId } = await givenSession(tenant.rest);
  const request = { sessionId, entries: sampleEntries(1) };
  const { orm } = service().service.parts;
  const rejected = appendEntries(orm, { ...caller, agentId: tenant.org_id }, request);
  await expect(rejected).rejects.toMatchObject({ code: "forbidden" });
  expect(await appendEntries(orm, { ...caller, agentId }, request)).toEqual({ added: 1, last_seq: 1 });
});

test("an append and the deletion of its session at the same time leave no entries", async () => {
  for (let round = 0; round < 5; round++) {
    const { session_id: sessionId } = await givenSession(tenant.rest, { entries: sampleEntries(1) });
    const appending = appendEntries(service().service.parts.orm, caller, { sessionId, entries: sampleEntries(200, 2) });
    const [appended, deleted] = await Promise.all([
      appending.then(
        () => "done",
        ({ code }: { code: string }) => code,
      ),
      tenant.rest.delete(`/v1/sessions/${sessionId}`),
    ]);
    expect([["done", "not_found"].includes(appended), deleted.status]).toEqual([true, 200]);
    expect(await em().count(SessionEntry, { sessionId })).toBe(0);
  }
  expect(await em().count(DeletedSession)).toBe(0);
});
