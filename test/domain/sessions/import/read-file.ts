import { TranscriptParser } from "../../../../domain/sessions/import/transcript-parser.ts";
import { RecordFile } from "../../../../domain/sessions/import/read-records.ts";
import type { NewEntry } from "../../../../domain/sessions/transcript-entry.ts";

/** Reads a whole file as an import does, in chunks of `chunkBytes`. */
export async function readFile(text: string, chunkBytes = 1000) {
  const file = new RecordFile();
  const parser = new TranscriptParser(file, undefined);
  const entries: NewEntry[] = [];
  for await (const record of file.read(toChunks(text, chunkBytes))) entries.push(...parser.read(record));
  const { format, reader, entries: last } = parser.end();
  return {
    format,
    entries: [...entries, ...last],
    session: reader.session(),
    skipped: { ...file.skipped.toObject(), ...reader.skipped() },
    isCut: file.isCut,
  };
}

async function* toChunks(text: string, chunkBytes: number): AsyncIterable<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
}

export function toLines(...records: object[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}
