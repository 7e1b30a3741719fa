import { isRecord, parseJson } from "../../shared/json.ts";
import { isTooComplexJson } from "../../shared/json-limits.ts";
import { ServiceError } from "../../shared/errors.ts";
import { type Line, readLines } from "./read-lines.ts";
import { SkippedRecords } from "./skipped-records.ts";
import type { TranscriptRecord } from "./transcript-reader.ts";

/** Images in tool results make lines of megabytes. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

const BYTE_ORDER_MARK = "\uFEFF";

/** The records of a JSONL file that a program may still be writing. */
export class RecordFile {
  readonly skipped = new SkippedRecords();
  #isCut = false;
  #length = 0;

  /** How much of the file was read, in characters. */
  get length(): number {
    return this.#length;
  }

  /** Whether the last line was incomplete, and left out. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** @throws {ServiceError} `invalid` for a line that is not JSON, unless it is the last one and has no line feed */
  async *read(chunks: AsyncIterable<Uint8Array>): AsyncIterable<TranscriptRecord> {
    for await (const line of readLines(chunks, MAX_LINE_BYTES)) {
      const value = this.#parse(line);
      if (value !== null) yield { line: line.number, value };
    }
  }

  /** @returns `null` for a line that has no record */
  #parse({ number, text: raw, isComplete }: Line): Record<string, unknown> | null {
    this.#length += raw?.length ?? 0;
    if (raw === null) {
      this.skipped.add("line_too_long");
      return null;
    }
    const text = number === 1 && raw.startsWith(BYTE_ORDER_MARK) ? raw.slice(1) : raw;
    if (text.trim() === "") return null;
    if (isTooComplexJson(text)) {
      this.skipped.add("line_too_complex");
      return null;
    }
    const value = parseJson(text);
    if (isRecord(value)) return value;
    if (value !== undefined) this.skipped.add("not_an_object");
    else if (isComplete) throw notJson(number);
    else this.#isCut = true;
    return null;
  }
}

function notJson(line: number): ServiceError {
  return new ServiceError(
    "invalid",
    `Line ${line} is not JSON. Nothing is imported. Correct or remove the line, then try again.`,
  );
}
