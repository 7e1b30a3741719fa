import { isRecord, parseJson } from "../../shared/json.ts";
import { isTooComplexJson } from "../../shared/json-limits.ts";
import { ServiceError } from "../../shared/errors.ts";
import { MarkdownExport } from "./cursor/markdown-export.ts";
import { DocumentSplitter } from "./document-splitter.ts";
import { type Line, readLines } from "./read-lines.ts";
import { SkippedRecords } from "./skipped-records.ts";
import type { TranscriptRecord } from "./transcript-reader.ts";

/** Images in tool results make lines of megabytes. Also the most that a message of a JSON document may have. */
export const MAX_LINE_BYTES = 8 * 1024 * 1024;

const BYTE_ORDER_MARK = "\uFEFF";

/** How a file contains its records: a JSON text in each line, one JSON document, or a Markdown document. */
type Layout = (line: Line & { text: string }) => TranscriptRecord[];

/** The records of a file that a program may still be writing. */
export class RecordFile {
  readonly skipped = new SkippedRecords();
  readonly #document = new DocumentSplitter(MAX_LINE_BYTES);
  readonly #markdown = new MarkdownExport(MAX_LINE_BYTES);
  /** `null` before the first line that is not empty. */
  #layout: Layout | null = null;
  #isCut = false;
  #length = 0;

  /** How much of the file was read, in characters. */
  get length(): number {
    return this.#length;
  }

  /** Whether the end of the file was incomplete, and left out. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /**
   * @throws {ServiceError} `invalid` for a line that is not JSON, unless it is the last one and has no line feed, and for a JSON
   *   document that is not valid, unless only its end is missing
   */
  async *read(chunks: AsyncIterable<Uint8Array>): AsyncIterable<TranscriptRecord> {
    for await (const line of readLines(chunks, MAX_LINE_BYTES)) {
      this.#length += line.text?.length ?? 0;
      if (line.text === null) {
        this.skipped.add("line_too_long");
        continue;
      }
      const text = line.number === 1 && line.text.startsWith(BYTE_ORDER_MARK) ? line.text.slice(1) : line.text;
      if (this.#layout === null && text.trim() === "") continue;
      this.#layout ??= this.#findLayout(text);
      yield* this.#layout({ ...line, text });
    }
    if (this.#layout === this.#readMarkdown) yield* this.#markdown.end();
    if (this.#layout === this.#readDocument) this.#isCut = !this.#document.isComplete;
  }

  #findLayout(text: string): Layout {
    if (text.startsWith("# ")) return this.#readMarkdown;
    return isStartOfDocument(text) ? this.#readDocument : this.#readLine;
  }

  readonly #readLine: Layout = ({ number, text, isComplete }) => {
    if (text.trim() === "") return [];
    if (isTooComplexJson(text)) {
      this.skipped.add("line_too_complex");
      return [];
    }
    const value = parseJson(text);
    if (isRecord(value)) return [{ line: number, value }];
    if (value !== undefined) this.skipped.add("not_an_object");
    else if (isComplete) throw notJson(number);
    else this.#isCut = true;
    return [];
  };

  readonly #readDocument: Layout = ({ number, text }) =>
    this.#document.push(`${text}\n`).flatMap((part) => {
      if ("invalid" in part) throw notJson(number);
      if ("value" in part) return [{ line: number, value: part.value }];
      this.skipped.add(part.skipped);
      return [];
    });

  readonly #readMarkdown: Layout = ({ number, text }) => this.#markdown.push(number, text);
}

const MESSAGES = /"messages"\s*:\s*\[/;
const MAX_SEARCHED = 100_000;

/** Whether the first line of a file begins a JSON document with messages, in one line or in several. */
function isStartOfDocument(text: string): boolean {
  if (!text.trimStart().startsWith("{")) return false;
  if (isTooComplexJson(text)) return MESSAGES.test(text.slice(0, MAX_SEARCHED));
  const value = parseJson(text);
  if (isRecord(value)) return Array.isArray(value["messages"]);
  return value === undefined && (text.trim() === "{" || MESSAGES.test(text.slice(0, MAX_SEARCHED)));
}

function notJson(line: number): ServiceError {
  return new ServiceError(
    "invalid",
    `Line ${line} is not JSON. Nothing is imported. Correct or remove the line, then try again.`,
  );
}
