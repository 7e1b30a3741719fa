/** The least that an import of a transcript has to do, by hand. */
import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import pg from "pg";
import { ClaudeCodeReader } from "../../domain/sessions/import/claude-code/claude-code-reader.ts";
import { RecordFile } from "../../domain/sessions/import/read-records.ts";
import type { NewEntry } from "../../domain/sessions/transcript-entry.ts";
import { createBaselineEntries } from "../support/unindexed-session-entries.ts";
import { measureTime } from "../support/measure-alternately.ts";

const COLUMNS = 14;
const SERVER_ID = "00000000-0000-0000-0000-000000000000";
const ROWS_PER_STATEMENT = 1000;

/** Reads the entries that a transcript of Claude Code has. */
export async function readEntries(file: string): Promise<NewEntry[]> {
  const reader = new ClaudeCodeReader();
  const records = new RecordFile().read(createReadStream(file));
  return (await Array.fromAsync(records)).flatMap((record) => reader.read(record));
}

/** Parses every line of a file. @returns the time, in milliseconds */
export function parseLines(file: string): Promise<number> {
  return measureTime(async () => {
    for (const line of (await readFile(file, "utf8")).split("\n")) if (line !== "") JSON.parse(line);
  });
}

/** Inserts entries in one transaction into an empty `baseline_entries`. @returns the time, in milliseconds */
export async function insertEntries(databaseUrl: string, entries: readonly NewEntry[]): Promise<number> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await createBaselineEntries(client);
    return await measureTime(async () => {
      await client.query("begin");
      for (let start = 0; start < entries.length; start += ROWS_PER_STATEMENT)
        await client.query(toStatement(entries.slice(start, start + ROWS_PER_STATEMENT), start));
      await client.query("commit");
    });
  } finally {
    await client.end();
  }
}

function toStatement(entries: readonly NewEntry[], start: number): { text: string; values: unknown[] } {
  const values = entries.flatMap(({ id, role, content, tool, model, usage, created_at: time }, index) => [
    start + index + 1,
    id,
    role,
    content,
    tool?.name,
    tool?.call_id,
    tool?.is_error,
    model,
    usage?.input,
    usage?.output,
    usage?.cache_read,
    usage?.cache_write,
    time,
    SERVER_ID,
  ]);
  const rows = entries.map((_, row) => {
    const parameters = Array.from({ length: COLUMNS }, (_each, column) => `$${row * COLUMNS + column + 1}`);
    return `('00000000-0000-0000-0000-000000000000', ${parameters.join(", ")})`;
  });
  return { text: `insert into baseline_entries values ${rows.join(", ")}`, values };
}
