import { ServiceError } from "../../shared/errors.ts";
import type { NewEntry } from "../transcript-entry.ts";
import { ClaudeCodeReader } from "./claude-code/claude-code-reader.ts";
import { CodexReader } from "./codex/codex-reader.ts";
import { CursorReader } from "./cursor/cursor-reader.ts";
import { detectFormat, TRANSCRIPT_FORMATS, type TranscriptFormat } from "./detect-format.ts";
import { GeminiCliReader } from "./gemini-cli/gemini-cli-reader.ts";
import { OpenClawReader } from "./openclaw/openclaw-reader.ts";
import { OpencodeReader } from "./opencode/opencode-reader.ts";
import { MAX_LINE_BYTES, type RecordFile } from "./read-records.ts";
import type { TranscriptReader, TranscriptRecord } from "./transcript-reader.ts";

/** Programs write records of other kinds before the first one that shows the format. */
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

const READERS: Record<TranscriptFormat, new () => TranscriptReader> = {
  "claude-code": ClaudeCodeReader,
  codex: CodexReader,
  cursor: CursorReader,
  "gemini-cli": GeminiCliReader,
  openclaw: OpenClawReader,
  opencode: OpencodeReader,
};

export function createReader(format: TranscriptFormat): TranscriptReader {
  return new READERS[format]();
}

function notTranscript(): ServiceError {
  const formats = new Intl.ListFormat("en", { type: "disjunction" }).format(TRANSCRIPT_FORMATS);
  return new ServiceError("invalid", `The file is not a transcript of ${formats}. Nothing is imported.`);
}
