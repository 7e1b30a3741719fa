import { expect, test } from "vitest";
import type { SpoolFile } from "../../../../domain/ports/spool.ts";
import type { TranscriptFormat } from "../../../../domain/sessions/import/detect-format.ts";
import { EntryWriter, readBatches } from "../../../../domain/sessions/import/entry-batches.ts";
import { spoolTranscript } from "../../../../domain/sessions/import/spool-transcript.ts";
import type { NewEntry } from "../../../../domain/sessions/transcript-entry.ts";

/** A file in memory. */
function memoryFile(): SpoolFile & { appended: string[] } {
  const appended: string[] = [];
  return {
    appended,
    append: async (content) => void appended.push(String(content)),
    read: () => new Blob(appended).stream(),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

function entries(count: number, content = ""): NewEntry[] {
  return Array.from({ length: count }, (_, index) => ({ id: `e${index}`, role: "user", content }));
}

/** Writes the entries one list after the other. Returns the sizes of the batches after each list. */
async function batchSizes(...lists: NewEntry[][]): Promise<number[][]> {
  const file = memoryFile();
  const writer = new EntryWriter(file);
  const sizes: number[][] = [];
  for (const list of [...lists, null]) {
    await (list === null ? writer.flush() : writer.write(list));
    sizes.push((await Array.fromAsync(readBatches(file))).map((batch) => batch.length));
  }
  return sizes;
}

test("a batch has at most 1,000 entries, and the rest is written at the end", async () => {
  expect(await batchSizes(entries(999), entries(1), entries(1500))).toEqual([
    [],
    [1000],
    [1000, 1000],
    [1000, 1000, 500],
  ]);
});

test("a batch ends with the entry that exceeds 49,152 characters of content", async () => {
  const half = entries(1, "x".repeat(24_576));
  expect(await batchSizes(half, half, entries(1, "x"), half, half)).toEqual([[], [], [3], [3], [3], [3, 2]]);
});

test("entries are read as they were written, and a file without entries has no batch", async () => {
  const file = memoryFile();
  const written: NewEntry[] = [
    { id: "a", role: "tool", content: "One\ntwo 🧾 \u0001", tool: { name: "pay", is_error: true } },
    { id: "b", role: "assistant", content: "\u0001".repeat(262_144), model: "claude" },
  ];
  const writer = new EntryWriter(file);
  await writer.flush();
  expect(file.appended).toEqual([]);
  await writer.write(written);
  await writer.flush();
  expect((await Array.fromAsync(readBatches(file))).flat()).toEqual(written);
});

const prompt = (fields: object, content = "Hello") => ({ type: "user", message: { role: "user", content }, ...fields });
const response = (uuid: string, id: string, output: number) => ({
  type: "assistant",
  sessionId: "s1",
  uuid,
  message: { id, content: "Hi", usage: { input_tokens: 1, output_tokens: output } },
});

function spool(lines: readonly (string | object)[], expected?: TranscriptFormat) {
  const text = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  return spoolTranscript(new Blob([text]).stream(), expected, memoryFile());
}

test("a transcript is summed up with its session, tokens and skipped records", async () => {
  const time = "2026-03-01T00:00:00.000Z";
  const lines = [
    prompt({ sessionId: "s1", uuid: "a" }),
    { ...response("b", "m1", 2), timestamp: time },
    { ...response("c", "m2", 5), timestamp: "2026-03-02T00:00:00.000Z" },
    { type: "mode", sessionId: "s1" },
    "[1]",
    '{"type":"us',
  ];
  expect(await spool(lines)).toEqual({
    format: "claude-code",
    externalId: "claude-code:s1",
    title: "Hello",
    startedAt: time,
    entryCount: 3,
    tokens: { input: 2, output: 7, cache_read: 0, cache_write: 0 },
    skipped: { mode: 1, not_an_object: 1 },
    isCut: true,
  });
});

test("a transcript of a response that may continue is summed up with the entries that are complete", async () => {
  const meta = { type: "session_meta", payload: { id: "s1" } };
  const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi" }] };
  expect(await spool([meta, { type: "response_item", payload: message }])).toMatchObject({
    format: "codex",
    externalId: "codex:s1",
    title: null,
    startedAt: undefined,
    entryCount: 1,
    isCut: false,
  });
});

test("a transcript without the id of a session, or with one that is too long, is rejected", async () => {
  const longest = "x".repeat(128 - "claude-code:".length);
  expect(await spool([prompt({ sessionId: longest, uuid: "a" })])).toMatchObject({
    externalId: `claude-code:${longest}`,
  });
  for (const record of [prompt({ sessionId: `${longest}x`, uuid: "a" }), prompt({ sessionId: "s1" })])
    await expect(spool([record])).rejects.toMatchObject({
      code: "invalid",
      message: "The transcript has no record with the id of its session. Nothing is imported.",
    });
});

test("a transcript of another format than expected is rejected", async () => {
  await expect(spool([prompt({ sessionId: "s1", uuid: "a" })], "codex")).rejects.toMatchObject({ code: "invalid" });
});
