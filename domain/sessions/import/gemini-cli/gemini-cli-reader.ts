import { isRecord } from "../../../shared/json.ts";
import type { EntryRole, EntryUsage, NewEntry } from "../../transcript-entry.ts";
import { EntryBuilder, type EntryDraft, readId, readRecordId } from "../entry-builder.ts";
import { NewEntries } from "../new-entries.ts";
import { toTitle } from "../session-title.ts";
import { SkippedRecords } from "../skipped-records.ts";
import { isNoUsage, readTokenCount } from "../token-counts.ts";
import type { ReadSession, TranscriptReader, TranscriptRecord } from "../transcript-reader.ts";
import { toJsonText } from "../stringify-json.ts";
import { contentText, hasFailed, resultText } from "./message-parts.ts";

type Fields = Record<string, unknown>;

/** What Gemini CLI adds for the model as the first message of the user. */
const CONTEXT = /^\s*<(session_context|state_snapshot)>/;

/** The states of a call that has ended. */
const ENDED = ["success", "error", "cancelled"];

/**
 * Reads a transcript of Gemini CLI: a JSON document in older versions, and a JSONL file since. In the latter, a message of the
 * model is written again when it gets tool calls and tokens, so it is held back until another message follows.
 */
export class GeminiCliReader implements TranscriptReader {
  readonly #builder = new EntryBuilder();
  readonly #skipped = new SkippedRecords();
  readonly #entries = new NewEntries();
  #held: { id: string; message: Fields } | null = null;
  #hasTokens = false;
  #id: string | null = null;
  #title: string | null = null;
  #prompt: string | null = null;

  read({ line, value }: TranscriptRecord): NewEntry[] {
    const { type, content, $set: changes, $rewindTo: rewind } = value;
    if (isRecord(changes)) return this.#readChanges(line, changes);
    if (typeof rewind === "string") return [...this.#release(), this.#describeRewind(line)];
    if (typeof type === "string" && (content !== undefined || value["toolCalls"] !== undefined))
      return this.#readMessage(line, value);
    if (!this.#readMetadata(value)) this.#skipped.add(type ?? "metadata");
    return [];
  }

  end(): NewEntry[] {
    if (this.#held === null) return [];
    const { content, toolCalls, tokens } = this.#held.message;
    // Calls are written after the tokens of a response, and the tokens after its text.
    const hasContent = contentText(content).trim() !== "" || listOf(toolCalls).length > 0;
    return hasContent && (isRecord(tokens) || !this.#hasTokens) ? this.#release() : [];
  }

  session(): ReadSession {
    return { id: this.#id, title: this.#title ?? this.#prompt };
  }

  skipped(): Record<string, number> {
    return this.#skipped.toObject();
  }

  #readChanges(line: number, changes: Fields): NewEntry[] {
    const { messages } = changes;
    if (!this.#readMetadata(changes) && messages === undefined) this.#skipped.add("set");
    if (!Array.isArray(messages)) return [];
    return messages.flatMap((message) => (isRecord(message) ? this.#readMessage(line, message) : []));
  }

  /** @returns whether the record has something about the session */
  #readMetadata({ sessionId, summary, ...others }: Fields): boolean {
    this.#id ??= readId(sessionId) ?? null;
    if (typeof summary === "string") this.#title = toTitle(summary) ?? this.#title;
    return METADATA.some((name) => others[name] !== undefined) || sessionId !== undefined || summary !== undefined;
  }

  #readMessage(line: number, message: Fields): NewEntry[] {
    const { type } = message;
    const id = readRecordId(message["id"]) ?? `line-${line}`;
    if (type === "gemini" || type === "model") {
      const released = this.#held?.id === id ? [] : this.#release();
      this.#held = { id, message };
      if (isRecord(message["tokens"])) this.#hasTokens = true;
      return released;
    }
    return [...this.#release(), ...this.#entries.filter(this.#readInput(id, message))];
  }

  #readInput(id: string, { type, content, displayContent, timestamp: time }: Fields): NewEntry[] {
    const text = contentText(displayContent ?? content);
    if (type === "user" && CONTEXT.test(text)) return this.#skip("user", "context");
    if (text.trim() === "") return this.#skip(type, "empty");
    if (type === "user") this.#prompt ??= toTitle(text);
    const role = type === "user" ? "user" : "system";
    const prefix = type === "error" ? "Error: " : "";
    return [this.#builder.build({ id, role, content: prefix + text, time })];
  }

  #release(): NewEntry[] {
    if (this.#held === null) return [];
    const { id, message } = this.#held;
    this.#held = null;
    return this.#entries.filter(this.#readResponse(id, message));
  }

  #readResponse(id: string, message: Fields): NewEntry[] {
    const { content, model, thoughts, toolCalls, timestamp: time } = message;
    const text = contentText(content);
    const isVisible = text.trim() !== "";
    const usage = this.#readUsage(message["tokens"]);
    const drafts: EntryDraft[] = [
      ...listOf(thoughts).map((thought, index) => ({
        id: `${id}.thought.${index}`,
        ...describeThought(thought),
        time,
      })),
      ...(isVisible ? [{ id, role: "assistant" as EntryRole, content: text, time }] : []),
      ...listOf(toolCalls).flatMap((call, index) => toDrafts(`${id}.${index}`, call, time)),
    ];
    if (!drafts.some(({ role }) => role === "assistant") && usage !== undefined)
      drafts.unshift({ id: `${id}.usage`, role: "assistant", content: "[a response without text]", time });
    return drafts.map((draft, index) =>
      this.#builder.build({
        ...draft,
        model: draft.role === "assistant" ? model : undefined,
        usage: index === 0 ? usage : undefined,
      }),
    );
  }

  #readUsage(tokens: unknown): EntryUsage | undefined {
    if (!isRecord(tokens)) return undefined;
    const usage = toUsage(tokens);
    if (usage === null) this.#skipped.add("usage");
    return usage === null || isNoUsage(usage) ? undefined : usage;
  }

  #describeRewind(line: number): NewEntry {
    const content = "The conversation was rewound. The model does not see the last messages any more.";
    return this.#builder.build({ id: `line-${line}`, role: "system", content, time: undefined });
  }

  #skip(...kind: unknown[]): NewEntry[] {
    this.#skipped.add(...kind);
    return [];
  }
}

const METADATA = ["projectHash", "startTime", "lastUpdated", "kind", "directories", "memoryScratchpad"];

function listOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function describeThought({ subject, description }: Fields): { role: EntryRole; content: string } {
  const parts = [subject, description].filter((part) => typeof part === "string" && part !== "");
  return { role: "assistant", content: `[thinking]\n${parts.join("\n")}` };
}

/** A call, and its result if it has ended. */
function toDrafts(id: string, call: Fields, messageTime: unknown): EntryDraft[] {
  const { id: callId, name, args, result, status, resultDisplay, timestamp } = call;
  const time = timestamp ?? messageTime;
  const draft = { id: `${id}.call`, role: "assistant" as const, content: toJsonText(args ?? {}), time };
  const hasEnded = typeof status === "string" ? ENDED.includes(status) : isPresent(result);
  if (!hasEnded) return [{ ...draft, tool: { name, callId } }];
  const shown = typeof resultDisplay === "string" ? resultDisplay : "";
  const content = isPresent(result) ? resultText(result) : shown;
  const isError = (status !== undefined && status !== "success") || hasFailed(content);
  const tool = { name, callId, isError };
  return [
    { ...draft, tool: { name, callId } },
    { id: `${id}.result`, role: "tool", content, time, tool },
  ];
}

function isPresent(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The tokens of the cache are a part of `input`. Those of thoughts are not a part of `output`. */
function toUsage({ input, output, cached, thoughts, tool }: Fields): EntryUsage | null {
  const [inputs, outputs, cache, thinking, tools] = [input, output, cached, thoughts, tool].map((count) =>
    readTokenCount(count),
  ) as [number | null, number | null, number | null, number | null, number | null];
  if (inputs === null || outputs === null || cache === null || thinking === null || tools === null) return null;
  const read = Math.min(cache, inputs);
  return { input: inputs - read + tools, output: outputs + thinking, cache_read: read, cache_write: 0 };
}
