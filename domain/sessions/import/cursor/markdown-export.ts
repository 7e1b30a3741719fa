import type { TranscriptRecord } from "../transcript-reader.ts";

const SPEAKERS: Record<string, "user" | "assistant"> = {
  "**User**": "user",
  "**Cursor**": "assistant",
  "**Assistant**": "assistant",
};
const EXPORTED = /^_Exported on .+ from Cursor\b.*_$/;
const SEPARATOR = "---";

/**
 * Reads the Markdown file that Cursor exports: a title, when and with which version it was exported, and the messages, each with
 * a separator and its speaker before it. Its records look like those of the transcripts that Cursor writes.
 */
export class MarkdownExport {
  readonly #maxLength: number;
  #title: string | null = null;
  #isExport = false;
  #message: { line: number; role: "user" | "assistant"; lines: string[]; length: number } | null = null;
  /** A separator, and the empty lines after it, which belong to the message unless a speaker follows. */
  #pending: string[] = [];

  /** @param maxLength - of a message, in characters. The rest is left out. */
  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Returns the records that are complete with a line. */
  push(number: number, text: string): TranscriptRecord[] {
    const line = text.trimEnd();
    if (!this.#isExport) return this.#readHeader(number, line);
    const role = SPEAKERS[line];
    if (role !== undefined && this.#pending.length > 0) return this.#start(number, role);
    if (line === SEPARATOR || (line === "" && this.#pending.length > 0)) this.#pending.push(line);
    else this.#append([...this.#takePending(), line]);
    return [];
  }

  /** Returns the last message. */
  end(): TranscriptRecord[] {
    const message = this.#message;
    this.#message = null;
    if (message === null) return [];
    const content = [{ type: "text", text: message.lines.join("\n").trim() }];
    return [{ line: message.line, value: { role: message.role, message: { content } } }];
  }

  #readHeader(number: number, line: string): TranscriptRecord[] {
    this.#title ??= line.slice(2).trim();
    if (!EXPORTED.test(line)) return [];
    this.#isExport = true;
    return [{ line: number, value: { type: "cursor_export", title: this.#title } }];
  }

  #start(line: number, role: "user" | "assistant"): TranscriptRecord[] {
    this.#takePending();
    const before = this.end();
    this.#message = { line, role, lines: [], length: 0 };
    return before;
  }

  #append(lines: string[]): void {
    const message = this.#message;
    if (message === null) return;
    for (const line of lines) {
      message.length += line.length + 1;
      if (message.length <= this.#maxLength) message.lines.push(line);
    }
  }

  #takePending(): string[] {
    const lines = this.#pending;
    this.#pending = [];
    return lines;
  }
}
