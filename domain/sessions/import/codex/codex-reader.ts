import { LRUCache } from "lru-cache";
import { isRecord } from "../../../shared/json.ts";
import { SESSION_LIMITS } from "../../session-rules.ts";
import type { EntryUsage, NewEntry } from "../../transcript-entry.ts";
import { CalledTools } from "../called-tools.ts";
import { EntryBuilder, type EntryDraft } from "../entry-builder.ts";
import { toTitle } from "../session-title.ts";
import { SkippedRecords } from "../skipped-records.ts";
import type { ReadSession, TranscriptReader, TranscriptRecord } from "../transcript-reader.ts";
import { CopiedHistory } from "./copied-history.ts";
import { ResponseBuffer } from "./response-buffer.ts";
import { readItem } from "./response-items.ts";
import { MAX_THREAD_TOKENS, readUsage, TokenTotals } from "./token-totals.ts";

type Fields = Record<string, unknown>;

/** A usage that is written again is close to the first one. */
const MAX_RESPONSES = 20_000;

/** What a record and its position give to an entry. */
type Origin = Pick<EntryDraft, "id" | "time">;

/** Reads a transcript of Codex: a `rollout-*.jsonl` file. */
export class CodexReader implements TranscriptReader {
  readonly #builder = new EntryBuilder();
  readonly #history = new CopiedHistory();
  readonly #response = new ResponseBuffer();
  readonly #skipped = new SkippedRecords();
  readonly #calls = new CalledTools();
  /** The ids of the responses whose usage was read. */
  readonly #responses = new LRUCache<string, true>({ maxSize: MAX_RESPONSES, sizeCalculation: () => 1 });
  #totals = new TokenTotals({ startsAtZero: true });
  #model: unknown;
  #name: string | null = null;
  #prompt: string | null = null;

  read({ line, value }: TranscriptRecord): NewEntry[] {
    const { type, payload, timestamp: time, ordinal } = value;
    const origin = { id: `line-${line}`, time };
    if (!isRecord(payload)) return this.#skip(type);
    if (ordinal !== undefined) this.#response.expectUsage();
    const hadSession = this.#history.sessionId !== null;
    this.#history.read(value, payload);
    switch (type) {
      case "session_meta":
        if (!hadSession) this.#startTotals(payload);
        return [];
      case "turn_context":
        this.#model = payload["model"];
        return [];
      case "response_item":
        return this.#readItem(origin, payload);
      case "inter_agent_communication":
        return this.#readItem(origin, { ...payload, type: "agent_message" });
      case "compacted":
        return [...this.#response.release(), this.#describe(origin, describeCompaction(payload))];
      case "token_usage_record":
        return this.#readUsageRecord(origin, payload);
      case "event_msg":
        return payload["type"] === "token_count" ? this.#readTotal(origin, payload) : this.#readEvent(origin, payload);
      default:
        return this.#skip(type);
    }
  }

  end(): NewEntry[] {
    return this.#response.end();
  }

  session(): ReadSession {
    return { id: this.#history.sessionId, title: this.#name ?? this.#prompt };
  }

  skipped(): Record<string, number> {
    return this.#skipped.toObject();
  }

  /**
   * The totals of a fork begin with those of the other session. Codex writes the `session_meta` of a session again when one of
   * its settings is changed. The totals go on then.
   */
  #startTotals({ forked_from_id: forkedFrom, history_base: base }: Fields): void {
    this.#totals = new TokenTotals({ startsAtZero: forkedFrom === undefined && base === undefined });
  }

  #readItem(origin: Origin, payload: Fields): NewEntry[] {
    const item = readItem(payload);
    if (item === null) return this.#skip("response_item", payload["type"], payload["role"]);
    const { role, content, tool } = item;
    if (role === "user") this.#prompt ??= toTitle(content);
    const model = role === "assistant" ? this.#model : undefined;
    const named = tool && { ...tool, name: this.#nameTool(tool) };
    const entry = this.#builder.build({ ...origin, role, content, model, ...(named && { tool: named }) });
    if (this.#history.isCopying) return [entry];
    return role === "user" ? [...this.#response.release(), entry] : this.#response.add(entry);
  }

  /** A result has no name. The name of its call is used. */
  #nameTool({ name, callId }: { name: unknown; callId: unknown }): unknown {
    if (name === undefined) return this.#calls.take(callId);
    this.#calls.add(callId, name);
    return name;
  }

  /**
   * Since version 0.153, Codex writes the usage of each response, also of a compaction. The totals do not contain compactions,
   * and may be missing.
   */
  #readUsageRecord(origin: Origin, { thread_id: threadId, response_id: responseId, usage }: Fields): NewEntry[] {
    this.#response.expectUsage();
    const isOther = this.#history.isCopying || this.#history.isOther(threadId);
    if (isOther || this.#isKnown(responseId)) return this.#skip("token_usage_record");
    const read = readUsage(usage);
    if (read === null) return this.#skip("usage");
    if (typeof responseId === "string") this.#responses.set(responseId, true);
    return this.#count(origin, this.#totals.addResponse(read, this.#response.hasEntries));
  }

  #isKnown(responseId: unknown): boolean {
    return typeof responseId === "string" && this.#responses.has(responseId);
  }

  #readTotal(origin: Origin, { info }: Fields): NewEntry[] {
    this.#response.expectUsage();
    if (!isRecord(info)) return [];
    const total = readUsage(info["total_token_usage"], MAX_THREAD_TOKENS);
    if (total === null) return this.#skip("usage");
    if (this.#history.isCopying) {
      this.#totals.replace(total);
      return [];
    }
    const last = readUsage(info["last_token_usage"]);
    return this.#count(origin, this.#totals.advance(total, last, this.#response.hasEntries));
  }

  /** The request of a compaction has no response in the file, so an entry is added for its tokens. */
  #count(origin: Origin, usage: EntryUsage | undefined): NewEntry[] {
    if (usage === undefined) return [];
    if (Object.values(usage).some((tokens) => tokens > SESSION_LIMITS.tokens)) return this.#skip("usage");
    const entries = this.#response.finish(usage);
    if (entries !== null) return entries;
    return [{ ...this.#describe(origin, "[a request whose response is not recorded]"), model: undefined, usage }];
  }

  #readEvent(origin: Origin, payload: Fields): NewEntry[] {
    const { type, thread_name: name } = payload;
    const isEndOfTurn = type === "task_complete" || type === "turn_aborted";
    const released = isEndOfTurn ? this.#response.release() : [];
    const text = describeEvent(payload);
    if (text !== null) return [...released, this.#describe(origin, text)];
    if (type === "thread_name_updated" && typeof name === "string") this.#name = toTitle(name) ?? this.#name;
    else if (!isEndOfTurn) this.#skipped.add("event_msg", type);
    return released;
  }

  #describe(origin: Origin, content: string): NewEntry {
    return this.#builder.build({ ...origin, role: "system", content });
  }

  #skip(...kind: unknown[]): NewEntry[] {
    this.#skipped.add(...kind);
    return [];
  }
}

function describeCompaction({ message }: Fields): string {
  return typeof message === "string" && message !== "" ? `Context compacted\n${message}` : "Context compacted";
}

/** Returns what an event says in the conversation: an error or an interruption. @returns `null` for other events */
export function describeEvent({ type, message, reason, error }: Record<string, unknown>): string | null {
  if (type === "error" || type === "stream_error") return withDetail("Error", message);
  if (type === "turn_aborted") return withDetail("Turn aborted", reason);
  if (type === "task_complete" && isRecord(error)) return withDetail("Error", error["message"]);
  return null;
}

function withDetail(text: string, detail: unknown): string {
  return typeof detail === "string" && detail !== "" ? `${text}: ${detail}` : text;
}
