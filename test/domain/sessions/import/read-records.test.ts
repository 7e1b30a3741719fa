import { describe, expect, test } from "vitest";
import { detectFormat } from "../../../../domain/sessions/import/detect-format.ts";
import { readLines } from "../../../../domain/sessions/import/read-lines.ts";
import { MAX_LINE_BYTES, RecordFile } from "../../../../domain/sessions/import/read-records.ts";
import { SAMPLES } from "./samples.ts";

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function readFile(text: string | Uint8Array, size = 64 * 1024) {
  const file = new RecordFile();
  const records = await Array.fromAsync(file.read(chunksOf(Buffer.from(text), size)));
  return { records, isCut: file.isCut, skipped: file.skipped.toObject() };
}

describe("a JSONL file", () => {
  test("has the same records wherever its chunks end", async () => {
    const text = '{"a":"ü"}\n \t\r\n{"b":"😀"}\r\n\n{"c":3}';
    const expected = [
      { line: 1, value: { a: "ü" } },
      { line: 3, value: { b: "😀" } },
      { line: 5, value: { c: 3 } },
    ];
    for (let size = 1; size <= Buffer.byteLength(text); size++)
      expect((await readFile(text, size)).records).toEqual(expected);
  });

  test("that ends within its last line has the records before it", async () => {
    const text = '{"a":1}\n{"b":"x"}\n';
    for (let length = 9; length < text.length - 2; length++) {
      const { records, isCut } = await readFile(text.slice(0, length));
      expect([records.length, isCut]).toEqual([1, true]);
    }
    expect((await readFile(text.slice(0, -1))).isCut).toBe(false);
    expect((await readFile(text)).records).toHaveLength(2);
  });

  test("is rejected with the number of a line within it that is not JSON", async () => {
    await expect(readFile('{"a":1}\n{"b":\n{"c":3}\n')).rejects.toMatchObject({
      code: "invalid",
      message: "Line 2 is not JSON. Nothing is imported. Correct or remove the line, then try again.",
    });
    await expect(readFile('{"a":1}\nnot JSON\n')).rejects.toMatchObject({ code: "invalid" });
  });

  test("can begin with a byte order mark and contain invalid UTF-8", async () => {
    const { records } = await readFile(
      Buffer.concat([Buffer.from('\ufeff{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    );
    expect(records).toEqual([{ line: 1, value: { a: "\ufffd" } }]);
    await expect(readFile('{"a":1}\n\ufeff{"b":2}\n')).rejects.toMatchObject({ code: "invalid" });
  });

  test("has no records for lines that are too long, or no objects", async () => {
    const long = JSON.stringify({ image: "A".repeat(MAX_LINE_BYTES) });
    const { records, skipped } = await readFile(`${long}\n[1]\n12\n{"a":1}\n`);
    expect(records).toEqual([{ line: 4, value: { a: 1 } }]);
    expect(skipped).toEqual({ line_too_long: 1, not_an_object: 2 });
  });

  test("is read with as little memory as its longest line has", async () => {
    const lines = await Array.fromAsync(readLines(chunksOf(Buffer.alloc(1000, "x"), 10), 100));
    expect(lines).toEqual([{ number: 1, text: null, isComplete: false }]);
  });
});

describe("the format of a transcript", () => {
  test.each(SAMPLES)("is found in $name", ({ format, records }) => {
    const shown = records.map(({ value }) => detectFormat(value)).filter((found) => found !== null);
    expect([shown[0], new Set(shown).size]).toEqual([format, 1]);
  });

  test("is shown by the fields that only one program writes", () => {
    expect(detectFormat({ type: "summary", leafUuid: "a" })).toBe("claude-code");
    expect(detectFormat({ type: "mode", sessionId: "s" })).toBe("claude-code");
    expect(detectFormat({ type: "session_meta", payload: { id: "s" } })).toBe("codex");
  });

  test("is unknown for other records", () => {
    for (const value of [
      {},
      { role: "user", content: "Hello" },
      { type: "session_meta" },
      { type: "session_meta", payload: { id: 7 } },
      { type: "turn_context", payload: { id: "s" } },
      { type: 1, sessionId: "x" },
      { type: "user", sessionId: 7, leafUuid: 7 },
    ])
      expect(detectFormat(value)).toBeNull();
  });
});
