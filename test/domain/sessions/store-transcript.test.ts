import { beforeAll, expect, test } from "vitest";
import type { SpoolFile } from "../../../domain/ports/spool.ts";
import { storeTranscript, type StoreTranscript } from "../../../domain/sessions/import/store-transcript.ts";
import { Session } from "../../../domain/sessions/session.entity.ts";
import { SessionEntry } from "../../../domain/sessions/session-entry.entity.ts";
import { SESSION_LIMITS } from "../../../domain/sessions/session-rules.ts";
import type { SessionView } from "../../../domain/sessions/session-view.ts";
import type { NewEntry } from "../../../domain/sessions/transcript-entry.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { givenSession, sampleEntries } from "../../support/service/given-session.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { mainAgentId } from "../../support/service/main-agent.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let caller: Caller;
let agentId: string;

beforeAll(async () => {
  tenant = await service().tenant();
  agentId = await mainAgentId(tenant.rest);
  const credential = { kind: "api_key", id: "test" } as const;
  caller = { orgId: tenant.org_id, userId: null, role: "admin", scope: "everything", credential };
});

const em = () => service().service.parts.orm.em.fork();

/** A file with a batch of entries in each line. */
function fileOf(batches: readonly NewEntry[][], beforeRead: () => Promise<unknown> = async () => undefined): SpoolFile {
  return {
    append: () => Promise.reject(new Error("the file is complete")),
    read: async function* () {
      await beforeRead();
      for (const batch of batches) yield Buffer.from(`${JSON.stringify(batch)}\n`);
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

let transcripts = 0;

function store(
  batches: readonly NewEntry[][],
  transcript: Partial<StoreTranscript["transcript"]> = {},
  beforeRead?: () => Promise<unknown>,
) {
  const given = { externalId: `transcript-${++transcripts}`, title: null, startedAt: undefined, ...transcript };
  return storeTranscript(em(), caller, { agentId, transcript: given, entries: fileOf(batches, beforeRead) });
}

const read = async (id: string) => (await tenant.rest.get(`/v1/sessions/${id}`)).body as unknown as SessionView;

const idsOf = async (sessionId: string) =>
  (await em().find(SessionEntry, { sessionId }, { orderBy: { seq: "asc" } })).map(({ seq, entryId }) => [seq, entryId]);

test("the entries of all batches are numbered in their order, and each is stored once", async () => {
  const [first, second] = [sampleEntries(2), sampleEntries(3, 2)];
  const { sessionId, added } = await store([first, second], { externalId: "batches" });
  expect(added).toBe(4);
  expect(await idsOf(sessionId)).toEqual([1, 2, 3, 4].map((seq) => [seq, `e${seq}`]));
  expect(await store([second, sampleEntries(1, 5)], { externalId: "batches" })).toEqual({ sessionId, added: 1 });
  expect(await read(sessionId)).toMatchObject({ message_count: 5, tokens: { input: 5, output: 10, total: 50 } });
  expect(await store([first], { externalId: "batches" })).toEqual({ sessionId, added: 0 });
});

test("a session began with its transcript, and is as new as its newest entry", async () => {
  const [first, second] = ["2026-03-02T00:00:00.000Z", "2026-03-01T00:00:00.000Z"] as const;
  const entries = sampleEntries(2).map((entry, index) => ({ ...entry, created_at: [first, second][index] }));
  const { sessionId } = await store([entries], { startedAt: "2026-02-01T00:00:00.000Z" });
  expect(await read(sessionId)).toMatchObject({ created_at: "2026-02-01T00:00:00.000Z", updated_at: first });
});

test("a transcript without entries makes an empty session that begins now", async () => {
  const before = new Date().toISOString();
  const { sessionId, added } = await store([]);
  const session = await read(sessionId);
  expect([added, session.message_count, session.created_at >= before]).toEqual([0, 0, true]);
});

test("a session has the title of the last transcript that has one", async () => {
  const titles = ["First", null, "Second"];
  const seen = [];
  for (const title of titles) {
    const { sessionId } = await store([sampleEntries(1)], { externalId: "titled", title });
    seen.push((await read(sessionId)).title);
  }
  expect(seen).toEqual(["First", "First", "Second"]);
});

test("entries are added to a session that was opened before, if it is open", async () => {
  const { session_id: sessionId } = await givenSession(tenant.rest, { externalId: "opened", title: "Mine" });
  expect(await store([sampleEntries(2)], { externalId: "opened" })).toEqual({ sessionId, added: 2 });
  expect(await read(sessionId)).toMatchObject({ title: "Mine", message_count: 2 });
  await tenant.rest.post(`/v1/sessions/${sessionId}/close`, {});
  await expect(store([sampleEntries(3)], { externalId: "opened" })).rejects.toMatchObject({ code: "conflict" });
  expect(await idsOf(sessionId)).toHaveLength(2);
});

test("a session that is opened during the import is left as it is, and the import can be repeated", async () => {
  const open = () => givenSession(tenant.rest, { externalId: "meanwhile", title: "Mine" });
  await expect(store([sampleEntries(2)], { externalId: "meanwhile" }, open)).rejects.toMatchObject({
    code: "conflict",
    message: "The session was opened during the import. Nothing is imported. Try again.",
  });
  const { id } = await em().findOneOrFail(Session, { externalId: "meanwhile", orgId: tenant.org_id });
  expect(await idsOf(id)).toEqual([]);
  expect(await store([sampleEntries(2)], { externalId: "meanwhile" })).toEqual({ sessionId: id, added: 2 });
});

test("a transcript that would exceed the entries of a session is not stored, not even in part", async () => {
  const { session_id: sessionId } = await givenSession(tenant.rest, { externalId: "full", entries: sampleEntries(1) });
  await em().nativeUpdate(Session, { id: sessionId }, { messageCount: SESSION_LIMITS.entriesPerSession - 2 });
  const batches = [sampleEntries(2, 2), sampleEntries(1, 4)];
  await expect(store(batches, { externalId: "full" })).rejects.toMatchObject({ code: "conflict" });
  expect(await idsOf(sessionId)).toEqual([[1, "e1"]]);
  expect((await store(batches.slice(0, 1), { externalId: "full" })).added).toBe(2);
});

test("a transcript is stored only for an agent of the caller's organization", async () => {
  const other = await mainAgentId((await service().tenant()).rest);
  const transcript = { externalId: "foreign", title: null, startedAt: undefined };
  const rejected = storeTranscript(em(), caller, { agentId: other, transcript, entries: fileOf([sampleEntries(1)]) });
  await expect(rejected).rejects.toMatchObject({ code: "not_found" });
});
