import { isRecord } from "../../../shared/json.ts";
import type { EntryRole, EntryUsage, NewEntry } from "../../transcript-entry.ts";
import { CalledTools } from "../called-tools.ts";
import { type EntryDraft, EntryBuilder, readRecordId } from "../entry-builder.ts";
import { SkippedRecords } from "../skipped-records.ts";
import { NO_USAGE } from "../token-counts.ts";
import type { ReadSession, TranscriptReader, TranscriptRecord } from "../transcript-reader.ts";
import { type ContentBlock, readContent } from "./content-blocks.ts";
import { isCopy, readUsage, requestKey, RequestUsage } from "./request-usage.ts";
import { SessionNames } from "./session-names.ts";

type Fields = Record<string, unknown>;

/** A response of the model. */
interface Response {
  request: string;
  usage: EntryUsage;
  /** Of the record. */
  id: string;
  model: unknown;
  time: unknown;
}

/** Reads a transcript of Claude Code: the file of a session, or the file of a subagent that a session started. */
export class ClaudeCodeReader implements TranscriptReader {
  readonly #builder = new EntryBuilder();
  readonly #names = new SessionNames();
  readonly #usage = new RequestUsage();
  readonly #skipped = new SkippedRecords();
  readonly #calls = new CalledTools();
  /** A response whose records had nothing to import so far, so that no entry has its usage. */
  #empty: Response | null = null;

  read({ line, value }: TranscriptRecord): NewEntry[] {
    const isTitle = this.#names.read(value);
    const { type, message } = value;
    const id = readRecordId(value["uuid"]) ?? `line-${line}`;
    if (isRecord(message) && type === "assistant") return this.#readAssistant(id, value, message);
    if (isRecord(message) && type === "user")
      return [...this.#endResponse(), ...this.#readUser(id, value, message["content"])];
    const event = describeEvent(value);
    if (event !== null) return this.#toEntries(id, value, event.role, event.content);
    if (!isTitle) this.#skip(value);
    return [];
  }

  end(): NewEntry[] {
    // The records that follow in a longer version of the file may belong to the last response.
    return [];
  }

  session(): ReadSession {
    return { id: this.#names.id, title: this.#names.title };
  }

  skipped(): Record<string, number> {
    return this.#skipped.toObject();
  }

  #readUser(id: string, value: Fields, content: unknown): NewEntry[] {
    return this.#toEntries(id, value, userRole(value, content), content);
  }

  #readAssistant(id: string, value: Fields, message: Fields): NewEntry[] {
    const { model, content } = message;
    // Claude Code writes its own texts, such as errors of the API, as messages of a model that does not exist.
    if (model === "<synthetic>" || value["isApiErrorMessage"] === true)
      return [...this.#endResponse(), ...this.#toEntries(id, value, "system", content)];
    const response = this.#readResponse(id, value, message);
    const rest = this.#empty?.request === response.request ? [] : this.#endResponse();
    const [first, ...others] = this.#toEntries(id, value, "assistant", content, model);
    this.#empty = first === undefined ? response : null;
    if (first === undefined) return rest;
    return [...rest, { ...first, usage: this.#usage.count(response.request, response.usage) }, ...others];
  }

  #readResponse(id: string, value: Fields, message: Fields): Response {
    const usage = isCopy(value) ? NO_USAGE : readUsage(message["usage"]);
    if (usage === null) this.#skipped.add("usage");
    const request = requestKey(value, message, id);
    return { request, usage: usage ?? NO_USAGE, id, model: message["model"], time: value["timestamp"] };
  }

  /** Returns an entry for a response without one, so that its tokens are counted. */
  #endResponse(): NewEntry[] {
    if (this.#empty === null) return [];
    const { request, usage: total, id, model, time } = this.#empty;
    this.#empty = null;
    const usage = this.#usage.count(request, total);
    if (usage === undefined) return [];
    const content = "[a response without text]";
    return [this.#builder.build({ id: `${id}.usage`, role: "assistant", content, model, usage, time })];
  }

  #toEntries(id: string, value: Fields, role: EntryRole, content: unknown, model?: unknown): NewEntry[] {
    return readContent(content).flatMap((block, index) => {
      const draft = { id: `${id}.${index}`, time: value["timestamp"], model };
      return this.#toEntry(block, draft, { role, type: value["type"] });
    });
  }

  #toEntry(
    block: ContentBlock,
    draft: Pick<EntryDraft, "id" | "time" | "model">,
    { role, type }: { role: EntryRole; type: unknown },
  ): NewEntry[] {
    switch (block.type) {
      case "text":
        return [this.#builder.build({ ...draft, role, content: block.text })];
      case "call": {
        const { name, callId, text: content } = block;
        this.#calls.add(callId, name);
        return [this.#builder.build({ ...draft, role: "assistant", content, tool: { name, callId } })];
      }
      case "result": {
        const { callId, isError, text: content } = block;
        const name = this.#calls.take(callId);
        return [this.#builder.build({ ...draft, role: "tool", content, tool: { name, callId, isError } })];
      }
      case "empty":
        return [];
      case "unknown":
        this.#skipped.add(type, block.kind);
        return [];
    }
  }

  #skip({ type, subtype, attachment }: Fields): void {
    this.#skipped.add(type, subtype ?? (isRecord(attachment) ? attachment["type"] : undefined));
  }
}

/** Claude Code writes its own texts for the model, and the output of its commands, as messages of the user. */
function userRole({ isMeta, isCompactSummary }: Fields, content: unknown): EntryRole {
  const isOutput = typeof content === "string" && content.startsWith("<local-command-");
  return isMeta === true || isCompactSummary === true || isOutput ? "system" : "user";
}

interface TranscriptEvent {
  role: EntryRole;
  /** A text or blocks, as the content of a message. */
  content: unknown;
}

/**
 * Reads what a record beside the messages says in the conversation: a compaction, an error of the API, a message that the user
 * wrote while Claude Code worked.
 *
 * @returns `null` for a record that says nothing there
 */
export function describeEvent(value: Record<string, unknown>): TranscriptEvent | null {
  const { type, content, error, attachment } = value;
  if (type === "system" && typeof content === "string" && content.trim() !== "") return { role: "system", content };
  if (type === "system" && value["subtype"] === "api_error") return { role: "system", content: describeError(error) };
  if (type === "attachment" && isRecord(attachment) && attachment["type"] === "queued_command")
    return { role: "user", content: attachment["prompt"] };
  return null;
}

function describeError(error: unknown): string {
  const message = isRecord(error) ? (error["formatted"] ?? error["message"]) : undefined;
  return typeof message === "string" ? `API error: ${message}` : "API error";
}
