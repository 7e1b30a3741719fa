import { ServiceError } from "../../shared/errors.ts";
import type { SpoolFile } from "../../ports/spool.ts";
import { SESSION_LIMITS } from "../session-rules.ts";
import type { EntryUsage, NewEntry } from "../transcript-entry.ts";
import type { TranscriptFormat } from "./detect-format.ts";
import { EntryWriter } from "./entry-batches.ts";
import { RecordFile } from "./read-records.ts";
import { mergeCounts } from "./skipped-records.ts";
import { combineUsage, NO_USAGE } from "./token-counts.ts";
import { TranscriptParser } from "./transcript-parser.ts";

/** A transcript whose entries are in a temporary file. */
export interface SpooledTranscript {
  format: TranscriptFormat;
  /** Names the session among all sessions of an agent. */
  externalId: string;
  title: string | null;
  /** The time of the first entry that has one. */
  startedAt: string | undefined;
  entryCount: number;
  tokens: EntryUsage;
  /** The number of records without an entry, by their kind. */
  skipped: Record<string, number>;
  /** Whether the end of the file was incomplete, and left out. */
  isCut: boolean;
}

/**
 * Reads a whole transcript, and writes its entries into a temporary file.
 *
 * @throws {ServiceError} `invalid` for a file that is not a transcript, or has a line that is not JSON
 */
export async function spoolTranscript(
  chunks: AsyncIterable<Uint8Array>,
  expected: TranscriptFormat | undefined,
  file: SpoolFile,
): Promise<SpooledTranscript> {
  const records = new RecordFile();
  const parser = new TranscriptParser(records, expected);
  const writer = new EntryWriter(file);
  const summary = new Summary();
  const add = async (entries: readonly NewEntry[]): Promise<void> => {
    if (entries.length === 0) return;
    for (const entry of entries) summary.add(entry);
    await writer.write(entries);
  };
  for await (const record of records.read(chunks)) await add(parser.read(record));
  const { format, reader, entries } = parser.end();
  await add(entries);
  await writer.flush();
  const { id, title } = reader.session();
  const { entryCount, tokens, startedAt } = summary;
  const skipped = mergeCounts(reader.skipped(), records.skipped.toObject());
  const { isCut } = records;
  return { format, externalId: toExternalId(format, id), title, startedAt, entryCount, tokens, skipped, isCut };
}

class Summary {
  entryCount = 0;
  tokens = NO_USAGE;
  startedAt: string | undefined;

  add({ usage, created_at: createdAt }: NewEntry): void {
    this.entryCount++;
    this.startedAt ??= createdAt;
    if (usage !== undefined) this.tokens = combineUsage(this.tokens, usage, (a, b) => a + b);
  }
}

function toExternalId(format: TranscriptFormat, id: string | null): string {
  const externalId = id === null ? "" : `${format}:${id}`;
  if (externalId !== "" && externalId.length <= SESSION_LIMITS.idCharacters) return externalId;
  throw new ServiceError("invalid", "The transcript has no record with the id of its session. Nothing is imported.");
}
