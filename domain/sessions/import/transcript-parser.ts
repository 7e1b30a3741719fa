import { ServiceError } from "../../shared/errors.ts";
import type { NewEntry } from "../transcript-entry.ts";
import { ClaudeCodeReader } from "./claude-code/claude-code-reader.ts";
import { CodexReader } from "./codex/codex-reader.ts";
import { detectFormat, TRANSCRIPT_FORMATS, type TranscriptFormat } from "./detect-format.ts";
import { MAX_LINE_BYTES, type RecordFile } from "./read-records.ts";
import type { TranscriptReader, TranscriptRecord } from "./transcript-reader.ts";

/** Both programs write records of other kinds before the first one that shows the format. */
const MAX_EARLY_RECORDS = 100;

/** Reads the records of a transcript, whose format its first records show. */
export class TranscriptParser {
  readonly #file: RecordFile;
  readonly #expected: TranscriptFormat | undefined;
  /** The records before the one that showed the format. */
  #early: TranscriptRecord[] = [];
  #format: TranscriptFormat | null = null;
  #reader: TranscriptReader | null = null;

  /** @param expected - the format that the caller named */
  constructor(file: RecordFile, expected: TranscriptFormat | undefined) {
    this.#file = file;
    this.#expected = expected;
  }

  /** @throws {ServiceError} `invalid` for a file of no format, or of another one than expected */
  read(record: TranscriptRecord): NewEntry[] {
    if (this.#reader !== null) return this.#reader.read(record);
    this.#early.push(record);
    const format = detectFormat(record.value);
    if (format === null) {
      if (this.#early.length >= MAX_EARLY_RECORDS || this.#file.length > MAX_LINE_BYTES) throw notTranscript();
      return [];
    }
    if (this.#expected !== undefined && this.#expected !== format)
      throw new ServiceError("invalid", `format: the file is a transcript of ${format}.`);
    const reader = createReader(format);
    const early = this.#early;
    this.#early = [];
    this.#format = format;
    this.#reader = reader;
    return early.flatMap((each) => reader.read(each));
  }

  /** @throws {ServiceError} `invalid` for a file of no format */
  end(): { format: TranscriptFormat; reader: TranscriptReader; entries: NewEntry[] } {
    if (this.#format === null || this.#reader === null) throw notTranscript();
    return { format: this.#format, reader: this.#reader, entries: this.#reader.end() };
  }
}

export function createReader(format: TranscriptFormat): TranscriptReader {
  return format === "codex" ? new CodexReader() : new ClaudeCodeReader();
}

function notTranscript(): ServiceError {
  const formats = TRANSCRIPT_FORMATS.join(" or ");
  return new ServiceError("invalid", `The file is not a transcript of ${formats}. Nothing is imported.`);
}
