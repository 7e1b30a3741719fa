import { describe, expect, test } from "vitest";
import { createReader } from "../../../../domain/sessions/import/transcript-parser.ts";
import { readLines } from "../../../../domain/sessions/import/read-lines.ts";
import { checkEntries, checkTitle } from "../../../../domain/sessions/session-rules.ts";
import { isRecord } from "../../../../domain/shared/json.ts";
import { readAll, SAMPLES, toRecords } from "./samples.ts";

const ODD: unknown[] = [-1, "\0\ud800\u202e\n<b>'; --", [{ length: [null] }]];

/** Returns copies of a value, in each of which one part is another value. */
function* mutate(value: unknown, odd: unknown): Generator {
  yield odd;
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value))
    for (const changed of mutate(inner, odd))
      yield Array.isArray(value) ? value.with(Number(key), changed) : { ...value, [key]: changed };
}

/** The names and types of all fields. Records of the same shape are read in the same way. */
function shapeOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return typeof value;
  return JSON.stringify(Object.entries(value).map(([key, inner]) => [key, shapeOf(inner)]));
}

describe.each(SAMPLES.filter(({ name }) => ["claude-code/session", "codex/session"].includes(name)))(
  "$name",
  ({ format, records }) => {
    test("gives only entries that can be stored, whatever a part of a record is", () => {
      const whole = createReader(format);
      const read = records.filter((record) => whole.read(record).length > 0);
      const shapes = new Map(read.map((record) => [shapeOf(record.value), record]));
      for (const { line, value } of shapes.values())
        for (const odd of ODD)
          for (const changed of mutate(value, odd)) {
            if (!isRecord(changed)) continue;
            const reader = createReader(format);
            const entries = readAll(reader, [records[0]!, { line, value: changed }, ...records.slice(line, line + 1)]);
            if (entries.length > 0) checkEntries(entries);
            const { title } = reader.session();
            if (title !== null) checkTitle(title);
          }
      expect(shapes.size).toBeGreaterThan(5);
    });
  },
);

test("content that is nested as deeply as a line can have is read", async () => {
  const depth = 100_000;
  const nested = `${'{"type":"tool_result","content":['.repeat(depth)}${"]}".repeat(depth)}`;
  const text = `{"type":"user","sessionId":"s","uuid":"u","message":{"role":"user","content":[${nested}]}}`;
  const [line] = await Array.fromAsync(readLines(new Blob([text]).stream(), 8 * 1024 * 1024));
  const [entry] = readAll(createReader("claude-code"), toRecords([line!.text!]));
  expect(entry).toMatchObject({ role: "tool", content: '"[nested too deeply]"' });
});
