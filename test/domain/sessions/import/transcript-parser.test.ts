import { expect, test } from "vitest";
import type { TranscriptFormat } from "../../../../domain/sessions/import/detect-format.ts";
import { MAX_LINE_BYTES, RecordFile } from "../../../../domain/sessions/import/read-records.ts";
import { TranscriptParser } from "../../../../domain/sessions/import/transcript-parser.ts";

const UNKNOWN = { kind: "unknown" };
const CODEX = { type: "session_meta", payload: { id: "session" } };
const SUMMARY = { type: "summary", summary: "Early title" };
const PROMPT = { type: "user", sessionId: "session", uuid: "a", message: { role: "user", content: "Hello" } };
const NOT_TRANSCRIPT = {
  code: "invalid",
  message: "The file is not a transcript of claude-code or codex. Nothing is imported.",
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
