import { ServiceError } from "../../shared/errors.ts";
import type { NewEntry } from "../transcript-entry.ts";
import { ClaudeCodeReader } from "./claude-code/claude-code-reader.ts";
import { CodexReader } from "./codex/codex-reader.ts";
import { detectFormat, TRANSCRIPT_FORMATS, type TranscriptFormat } from "./detect-format.ts";
import { MAX_LINE_BYTES, type RecordFile } from "./read-records.ts";
import type { TranscriptReader, TranscriptRecord } from "./transcript-reader.ts";

/** Both programs write records of other kinds before the first one that shows the format. */
const MAX_EARLY_RECORDS = 100;

interface FoundReader {
  format: TranscriptFormat;
  reader: TranscriptReader;
}

/** Reads the records of a transcript, whose format its first records show. */
export class TranscriptParser {
  readonly #file: RecordFile;
  readonly #expected: TranscriptFormat | undefined;
  /** The records before the one that showed the format. */
  #early: TranscriptRecord[] = [];
  /** `null` before the record that shows the format. */
  #found: FoundReader | null = null;

  /** @param expected - the format that the caller named */
  constructor(file: RecordFile, expected: TranscriptFormat | undefined) {
    this.#file = file;
    this.#expected = expected;
  }

  /** @throws {ServiceError} `invalid` for a file of no format, or of another one than expected */
  read(record: TranscriptRecord): NewEntry[] {
    if (this.#found !== null) return this.#found.reader.read(record);
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
    this.#found = { format, reader };
    return early.flatMap((each) => reader.read(each));
  }

  /** @throws {ServiceError} `invalid` for a file of no format */
  end(): FoundReader & { entries: NewEntry[] } {
    if (this.#found === null) throw notTranscript();
    return { ...this.#found, entries: this.#found.reader.end() };
  }
}

export function createReader(format: TranscriptFormat): TranscriptReader {
  return format === "codex" ? new CodexReader() : new ClaudeCodeReader();
}

function notTranscript(): ServiceError {
  const formats = TRANSCRIPT_FORMATS.join(" or ");
  return new ServiceError("invalid", `The file is not a transcript of ${formats}. Nothing is imported.`);
}
