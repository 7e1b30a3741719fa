import { createHash } from "node:crypto";
import { isRecord } from "../../../shared/json.ts";
import type { EntryRole, NewEntry } from "../../transcript-entry.ts";
import { CalledTools } from "../called-tools.ts";
import { type ContentBlock, readContent } from "../claude-code/content-blocks.ts";
import { EntryBuilder } from "../entry-builder.ts";
import { toTitle } from "../session-title.ts";
import { SkippedRecords } from "../skipped-records.ts";
import type { ReadSession, TranscriptReader, TranscriptRecord } from "../transcript-reader.ts";
import { readPrompt } from "./user-prompt.ts";

/** A session is named by this number of its first messages, because no record has an id. */
const NAMING_MESSAGES = 2;

/** What Cursor writes in place of thinking that it does not record. */
const REDACTED = "[REDACTED]";

/**
 * Reads a transcript of an agent of Cursor, or a chat that it has exported as Markdown. Neither has ids, models or tokens, and
 * the results of tools are missing.
 */
export class CursorReader implements TranscriptReader {
  readonly #builder = new EntryBuilder();
  readonly #skipped = new SkippedRecords();
  readonly #calls = new CalledTools();
  readonly #hash = createHash("sha256");
  #named = 0;
  #id: string | null = null;
  #title: string | null = null;
  #prompt: string | null = null;
  #time: string | undefined;

  read({ line, value }: TranscriptRecord): NewEntry[] {
    const { type, role, message, status } = value;
    if (type === "cursor_export") {
      this.#title = typeof value["title"] === "string" ? toTitle(value["title"]) : null;
      return [];
    }
    if (isRecord(message) && (role === "user" || role === "assistant" || role === "tool"))
      return this.#readMessage(`line-${line}`, role, message["content"]);
    if (type === "turn_ended" && typeof status === "string" && status !== "success")
      return [this.#build(`line-${line}`, "system", `Turn ended: ${status}`)];
    this.#skipped.add(type ?? role);
    return [];
  }

  end(): NewEntry[] {
    return [];
  }

  session(): ReadSession {
    return { id: this.#id, title: this.#title ?? this.#prompt };
  }

  skipped(): Record<string, number> {
    return this.#skipped.toObject();
  }

  #readMessage(line: string, role: EntryRole, content: unknown): NewEntry[] {
    const blocks = readContent(content);
    this.#name(role, blocks);
    return blocks.flatMap((block, index) => this.#toEntry(`${line}.${index}`, role, block));
  }

  #toEntry(id: string, role: EntryRole, block: ContentBlock): NewEntry[] {
    switch (block.type) {
      case "text":
        return this.#readText(id, role, block.text);
      case "call": {
        const { name, callId, text } = block;
        this.#calls.add(callId, name);
        return [this.#build(id, "assistant", text, { name, callId })];
      }
      case "result": {
        const { callId, isError, text } = block;
        return [this.#build(id, "tool", text, { name: this.#calls.take(callId), callId, isError })];
      }
      case "empty":
        return [];
      case "unknown":
        this.#skipped.add(role, block.kind);
        return [];
    }
  }

  #readText(id: string, role: EntryRole, text: string): NewEntry[] {
    if (role !== "user") return text.trim() === REDACTED ? [] : [this.#build(id, role, text)];
    const prompt = readPrompt(text);
    this.#time = prompt.time ?? this.#time;
    this.#prompt ??= toTitle(prompt.text);
    return prompt.text === "" ? [] : [this.#build(id, "user", prompt.text)];
  }

  #build(
    id: string,
    role: EntryRole,
    content: string,
    tool?: { name: unknown; callId: unknown; isError?: boolean | undefined },
  ): NewEntry {
    return this.#builder.build({ id, role, content, time: this.#time, ...(tool && { tool }) });
  }

  #name(role: EntryRole, blocks: readonly ContentBlock[]): void {
    if (this.#named === NAMING_MESSAGES) return;
    this.#named += 1;
    this.#hash.update(JSON.stringify([role, blocks]));
    this.#id = this.#hash.copy().digest("hex").slice(0, ID_CHARACTERS);
  }
}

const ID_CHARACTERS = 32;
