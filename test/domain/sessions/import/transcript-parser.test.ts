import { expect, test } from "vitest";
import type { TranscriptFormat } from "../../../../domain/sessions/import/detect-format.ts";
import { MAX_LINE_BYTES, RecordFile } from "../../../../domain/sessions/import/read-records.ts";
import { mergeCounts, SkippedRecords } from "../../../../domain/sessions/import/skipped-records.ts";
import {
  combineUsage,
  isNoUsage,
  NO_USAGE,
  readTokenCount,
  subtractUsage,
} from "../../../../domain/sessions/import/token-counts.ts";
import { TranscriptParser } from "../../../../domain/sessions/import/transcript-parser.ts";

const UNKNOWN = { kind: "unknown" };
const CODEX = { type: "session_meta", payload: { id: "session" } };
const SUMMARY = { type: "summary", summary: "Early title" };
const PROMPT = { type: "user", sessionId: "session", uuid: "a", message: { role: "user", content: "Hello" } };
const NOT_TRANSCRIPT = {
  code: "invalid",
  message:
    "The file is not a transcript of claude-code, codex, cursor, gemini-cli, openclaw, or opencode. Nothing is imported.",
};

/** Parses a file of these records. */
async function parse(records: readonly object[], expected?: TranscriptFormat) {
  const file = new RecordFile();
  const parser = new TranscriptParser(file, expected);
  const bytes = new Blob(records.map((record) => `${JSON.stringify(record)}\n`)).stream();
  const entries = [];
  for await (const record of file.read(bytes)) entries.push(...parser.read(record));
  const { entries: held, ...end } = parser.end();
  return { ...end, entries, held };
}

test("records before the one that shows the format are read with the others, in their order", async () => {
  const { format, reader, entries } = await parse([SUMMARY, UNKNOWN, PROMPT, { ...PROMPT, uuid: "b" }]);
  expect(format).toBe("claude-code");
  expect(entries.map(({ id }) => id)).toEqual(["a.0", "b.0"]);
  expect(reader.session()).toEqual({ id: "session", title: "Early title" });
  expect(reader.skipped()).toEqual({ other: 1 });
});

test("the 100th record can show the format, and a later one cannot", async () => {
  const unknown = Array.from({ length: 99 }, () => UNKNOWN);
  expect((await parse([...unknown, CODEX])).format).toBe("codex");
  await expect(parse([...unknown, UNKNOWN, CODEX])).rejects.toMatchObject(NOT_TRANSCRIPT);
});

test("a file whose first 8 MiB do not show the format is rejected", async () => {
  const padding = MAX_LINE_BYTES / 2 - JSON.stringify({ text: "" }).length;
  const half = { text: "x".repeat(padding) };
  expect((await parse([half, half, CODEX])).format).toBe("codex");
  await expect(parse([half, half, UNKNOWN, CODEX])).rejects.toMatchObject(NOT_TRANSCRIPT);
});

test("a file without a record that shows the format is rejected at its end", async () => {
  await expect(parse([])).rejects.toMatchObject(NOT_TRANSCRIPT);
  await expect(parse([UNKNOWN], "codex")).rejects.toMatchObject(NOT_TRANSCRIPT);
});

test("a file of another format than the caller named is rejected", async () => {
  expect((await parse([CODEX], "codex")).format).toBe("codex");
  await expect(parse([CODEX], "claude-code")).rejects.toMatchObject({
    code: "invalid",
    message: "format: the file is a transcript of codex.",
  });
});

test("the entries that a reader holds are returned at the end of the file", async () => {
  const content = [{ type: "output_text", text: "Done" }];
  const response = { type: "response_item", payload: { type: "message", role: "assistant", content } };
  const { entries, held } = await parse([CODEX, response]);
  expect([entries, held]).toMatchObject([[], [{ content: "Done" }]]);
});

test("skipped records are counted by their kind, sorted by its name", () => {
  const skipped = new SkippedRecords();
  for (const kind of [["b", "x"], ["a"], ["c"], ["b", undefined, "x"], ["a", 7, {}]]) skipped.add(...kind);
  expect(Object.entries(skipped.toObject())).toEqual([
    ["a", 2],
    ["b/x", 2],
    ["c", 1],
  ]);
});

test("records with a name that is long, empty or of other characters are counted together", () => {
  const skipped = new SkippedRecords();
  for (const name of ["x".repeat(64), "x".repeat(65), "", "a b", "a\n", "é", "a.b-c_d/e"]) skipped.add(name);
  expect(skipped.toObject()).toEqual({ ["x".repeat(64)]: 1, "a.b-c_d/e": 1, other: 5 });
});

test("the kinds beyond the first 100 are counted together, and the first 100 go on being counted", () => {
  const skipped = new SkippedRecords();
  for (const round of [1, 2]) for (let kind = 1; kind <= 103; kind++) skipped.add(`kind-${kind}`, round);
  const counts = skipped.toObject();
  expect(Object.keys(counts)).toHaveLength(101);
  expect(counts).toMatchObject({ "kind-1": 2, "kind-100": 2, other: 6 });
});

test("two lists of counts are added", () => {
  const counts = { a: 1, b: 2 };
  expect(mergeCounts(counts, { b: 3, c: 4 })).toEqual({ a: 1, b: 5, c: 4 });
  expect(counts).toEqual({ a: 1, b: 2 });
});

test("a number of tokens is an integer from 0 to the maximum, and an absent one is 0", () => {
  for (const value of [undefined, null, 0]) expect(readTokenCount(value)).toBe(0);
  expect([readTokenCount(1_000_000_000), readTokenCount(1_000_000_001)]).toEqual([1_000_000_000, null]);
  expect([readTokenCount(5, 5), readTokenCount(6, 5)]).toEqual([5, null]);
  for (const value of [-1, 0.5, Number.NaN, "1", true, {}]) expect(readTokenCount(value)).toBeNull();
});

test("usages are combined, subtracted and compared number by number", () => {
  const usage = { input: 1, output: 20, cache_read: 300, cache_write: 4000 };
  const other = { input: 5, output: 5, cache_read: 5, cache_write: 5 };
  expect(combineUsage(usage, other, (a, b) => a + b)).toEqual({
    input: 6,
    output: 25,
    cache_read: 305,
    cache_write: 4005,
  });
  expect(subtractUsage(usage, other)).toEqual({ input: 0, output: 15, cache_read: 295, cache_write: 3995 });
  expect(isNoUsage(NO_USAGE)).toBe(true);
  for (const key of ["input", "output", "cache_read", "cache_write"] as const) {
    expect([key, isNoUsage({ ...NO_USAGE, [key]: 1 })]).toEqual([key, false]);
    expect([key, isNoUsage({ ...NO_USAGE, input: 1, [key]: 1 })]).toEqual([key, false]);
  }
});
