import { createReadStream, existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { TranscriptFormat } from "../../../../domain/sessions/import/detect-format.ts";
import { RecordFile } from "../../../../domain/sessions/import/read-records.ts";
import type { TranscriptReader, TranscriptRecord } from "../../../../domain/sessions/import/transcript-reader.ts";
import type { EntryUsage, NewEntry } from "../../../../domain/sessions/transcript-entry.ts";

const FOLDER = path.join(import.meta.dirname, "samples");

const NAMES: Record<string, { format: TranscriptFormat; transcripts: string[] }> = {
  "claude-code": { format: "claude-code", transcripts: ["session", "subagent", "fork"] },
  "claude-code-1.0": { format: "claude-code", transcripts: ["session", "fork"] },
  codex: { format: "codex", transcripts: ["session", "fork"] },
  "codex-0.104": { format: "codex", transcripts: ["session", "fork"] },
  "gemini-cli": { format: "gemini-cli", transcripts: ["session"] },
  opencode: { format: "opencode", transcripts: ["session"] },
};

/** A transcript that a real program wrote. */
export interface Sample {
  name: string;
  format: TranscriptFormat;
  file: string;
  /** The tokens that the scripted model said for the requests of this file. */
  tokens: EntryUsage;
  records: TranscriptRecord[];
}

export const SAMPLES: Sample[] = (await Promise.all(Object.entries(NAMES).map(readSamples))).flat();

async function readSamples([folder, { format, transcripts }]: [
  string,
  { format: TranscriptFormat; transcripts: string[] },
]): Promise<Sample[]> {
  const { tokens } = JSON.parse(readFileSync(path.join(FOLDER, folder, "expected.json"), "utf8")) as {
    tokens: Record<string, EntryUsage>;
  };
  return Promise.all(
    transcripts.map(async (transcript) => {
      const start = path.join(FOLDER, folder, transcript);
      const file = existsSync(`${start}.json`) ? `${start}.json` : `${start}.jsonl`;
      const records = await Array.fromAsync(new RecordFile().read(createReadStream(file)));
      return { name: `${folder}/${transcript}`, format, file, tokens: tokens[transcript]!, records };
    }),
  );
}

export function findSample(name: string): Sample {
  return SAMPLES.find((sample) => sample.name === name)!;
}

/** Returns the entries of a whole transcript. */
export function readAll(reader: TranscriptReader, records: readonly TranscriptRecord[]): NewEntry[] {
  return [...records.flatMap((record) => reader.read(record)), ...reader.end()];
}

export function toRecords(lines: readonly (string | object)[]): TranscriptRecord[] {
  return lines.map((line, index) => ({
    line: index + 1,
    value: (typeof line === "string" ? JSON.parse(line) : line) as Record<string, unknown>,
  }));
}

export function sumTokens(entries: readonly NewEntry[]): EntryUsage {
  const total = { input: 0, output: 0, cache_read: 0, cache_write: 0 };
  for (const { usage } of entries)
    for (const key of Object.keys(total) as (keyof EntryUsage)[]) total[key] += usage?.[key] ?? 0;
  return total;
}
