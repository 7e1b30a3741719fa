import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import {
  decodeSearchCursor,
  encodeSearchCursor,
  searchTranscripts,
} from "../../../domain/sessions/search-transcripts.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { PostgresTranscriptSearch } from "../../../server/drivers/transcript-search/postgres-transcript-search.ts";
import { nextMillisecond } from "../../support/next-millisecond.ts";
import { givenSession, sampleEntries } from "../../support/service/given-session.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
let tenant: Tenant;
let caller: Caller;

beforeAll(async () => {
  tenant = await service().tenant();
  const credential = { kind: "api_key", id: "test" } as const;
  caller = { orgId: tenant.org_id, userId: null, role: "admin", scope: "everything", credential };
});

test("a search that takes too long is stopped, and the caller can try again", async () => {
  const { session_id } = await givenSession(tenant.rest, { entries: sampleEntries(1) });
  const { orm, service: deps } = service().service.parts;
  const { db } = deps;
  const search = (timeoutMs: number) =>
    searchTranscripts({ db, transcriptSearch: new PostgresTranscriptSearch(orm.em, { timeoutMs }) }, caller, {
      q: "message",
      limit: 10,
    });
  await orm.em.fork().transactional(async (em) => {
    await em.execute("lock table session_entries in access exclusive mode");
    await expect(search(50)).rejects.toMatchObject({ code: "unavailable", message: /took too long/ });
  });
  expect((await search(60_000)).hits).toMatchObject([{ session_id, seq: 1 }]);
});

test("an invalid query is rejected, and another error than a timeout is not hidden", async () => {
  const { db, transcriptSearch } = service().service.parts.service;
  const search = (q: string, find = transcriptSearch.find.bind(transcriptSearch)) =>
    searchTranscripts({ db, transcriptSearch: { ...transcriptSearch, find } }, caller, { q, limit: 10 });
  await expect(search(" ")).rejects.toMatchObject({ code: "invalid", message: expect.stringMatching(/^q: /) });
  await expect(search("x", () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
});

test("the limits of a search are not left on the connection", async () => {
  const { orm, service: deps } = service().service.parts;
  await searchTranscripts(deps, caller, { q: "message", limit: 10 });
  const settings = await Promise.all(
    Array.from({ length: 10 }, () =>
      orm.em
        .fork()
        .execute("select current_setting('enable_seqscan') as scan, current_setting('statement_timeout') as time"),
    ),
  );
  expect(new Set(settings.flat().map((row) => JSON.stringify(row)))).toEqual(new Set(['{"scan":"on","time":"0"}']));
});

test("new words are merged into the index, and searches find them before and after", async () => {
  const { orm, service: deps } = service().service.parts;
  const { transcriptSearch } = deps;
  const merge = async () => {
    const [row] = await orm.em.execute("select gin_clean_pending_list('session_entries_words_index') as pages");
    return Number(row!["pages"]);
  };
  const search = () => searchTranscripts(deps, caller, { q: "numbat", limit: 10 });
  const entries = [{ id: "e1", role: "user", content: "numbat" }] as const;
  await givenSession(tenant.rest, { entries });
  expect(await merge()).toBeGreaterThan(0);
  await nextMillisecond();
  const { session_id } = await givenSession(tenant.rest, { entries });
  expect((await search()).hits).toHaveLength(2);
  await transcriptSearch.mergeNewWords();
  expect(await merge()).toBe(0);
  expect((await search()).hits[0]).toMatchObject({ session_id, seq: 1 });
});

const position = { updatedAt: "2026-03-01T00:00:00.000Z", sessionId: randomUUID(), seq: 1_000_000 };

test("a cursor is the position that it encodes", () => {
  for (const seq of [1, 10, 1_000_000])
    expect(decodeSearchCursor(encodeSearchCursor({ ...position, seq }))).toEqual({ ...position, seq });
});

test("another text is not a cursor", () => {
  const cursor = encodeSearchCursor(position);
  const [encoded] = cursor.split(".");
  for (const text of [
    "",
    "x.1",
    `${encoded}`,
    `${encoded}.0`,
    `${encoded}.01`,
    `${cursor}0`,
    `x ${cursor}`,
    `${cursor}x`,
  ])
    expect(() => decodeSearchCursor(text)).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringMatching(/^cursor: /) }),
    );
});
