import { isRecord } from "../../../shared/json.ts";
import type { EntryRole, EntryUsage, NewEntry } from "../../transcript-entry.ts";
import { CalledTools } from "../called-tools.ts";
import { EntryBuilder, type EntryDraft, readId, readRecordId, toTimeText } from "../entry-builder.ts";
import { toTitle } from "../session-title.ts";
import { SkippedRecords } from "../skipped-records.ts";
import { isNoUsage, readTokenCount } from "../token-counts.ts";
import type { ReadSession, TranscriptReader, TranscriptRecord } from "../transcript-reader.ts";
import { type BlockText, contentText, readBlocks } from "./content-blocks.ts";

type Fields = Record<string, unknown>;

/** Reads a transcript of OpenClaw: the JSONL file of a session. */
export class OpenClawReader implements TranscriptReader {
  readonly #builder = new EntryBuilder();
  readonly #skipped = new SkippedRecords();
  readonly #calls = new CalledTools();
  #id: string | null = null;
  #title: string | null = null;
  #prompt: string | null = null;

  read({ line, value }: TranscriptRecord): NewEntry[] {
    const { type, id, message, timestamp, name } = value;
    const origin = { id: readRecordId(id) ?? `line-${line}`, time: timestamp };
    if (type === "session") {
      this.#id ??= readId(id) ?? null;
      return [];
    }
    if (type === "message" && isRecord(message)) return this.#readMessage(origin, message);
    if (type === "session_info" && typeof name === "string") {
      this.#title = toTitle(name) ?? this.#title;
      return [];
    }
    const text = describeEvent(value);
    if (text !== null) return [this.#describe(origin, text)];
    this.#skipped.add(type, value["customType"]);
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

  #readMessage({ id, time }: { id: string; time: unknown }, message: Fields): NewEntry[] {
    const origin = { id, time: time ?? toTimeText(message["timestamp"]) };
    switch (message["role"]) {
      case "user":
        return this.#readUser(origin, message["content"]);
      case "assistant":
        return this.#readAssistant(origin, message);
      case "toolResult":
        return [this.#readResult(origin, message)];
      default: {
        const text = describeMessage(message);
        if (text !== null) return [this.#describe(origin, text)];
        this.#skipped.add("message", message["role"]);
        return [];
      }
    }
  }

  #readUser(origin: Pick<EntryDraft, "id" | "time">, content: unknown): NewEntry[] {
    const text = contentText(content);
    if (text.trim() === "") return [];
    this.#prompt ??= toTitle(text);
    return [this.#builder.build({ ...origin, role: "user", content: text })];
  }

  #readAssistant({ id, time }: Pick<EntryDraft, "id" | "time">, message: Fields): NewEntry[] {
    const { content, model, usage: tokens, errorMessage } = message;
    const blocks = readBlocks(content);
    const usage = this.#readUsage(tokens);
    if (blocks.length === 0 && usage !== undefined) blocks.push({ content: "[a response without text]" });
    const entries = blocks.map((block, index) => {
      if (block.tool !== undefined) this.#calls.add(block.tool.callId, block.tool.name);
      const draft: BlockText & { usage?: EntryUsage } =
        index === 0 && usage !== undefined ? { ...block, usage } : block;
      return this.#builder.build({ ...draft, id: `${id}.${index}`, role: "assistant", model, time });
    });
    if (typeof errorMessage !== "string" || errorMessage === "") return entries;
    return [...entries, this.#describe({ id: `${id}.error`, time }, `Error: ${errorMessage}`)];
  }

  #readResult(origin: Pick<EntryDraft, "id" | "time">, message: Fields): NewEntry {
    const { toolCallId: callId, toolName, isError, content } = message;
    const called = this.#calls.take(callId);
    const tool = { name: toolName ?? called, callId, isError: typeof isError === "boolean" ? isError : undefined };
    return this.#builder.build({ ...origin, role: "tool", content: contentText(content), tool });
  }

  #readUsage(tokens: unknown): EntryUsage | undefined {
    if (!isRecord(tokens)) return undefined;
    const usage = toUsage(tokens);
    if (usage === null) this.#skipped.add("usage");
    return usage === null || isNoUsage(usage) ? undefined : usage;
  }

  #describe(origin: Pick<EntryDraft, "id" | "time">, content: string): NewEntry {
    const role: EntryRole = "system";
    return this.#builder.build({ ...origin, role, content });
  }
}

/** What a record beside the messages says in the conversation. */
function describeEvent({ type, summary, content }: Fields): string | null {
  if (type === "compaction") return typeof summary === "string" ? `Context compacted\n${summary}` : "Context compacted";
  if (type === "branch_summary" && typeof summary === "string") return `Summary of another branch\n${summary}`;
  if (type !== "custom_message") return null;
  const text = contentText(content);
  return text.trim() === "" ? null : text;
}

/** What a message of another role says: a command that the user ran, a summary, or a text of an extension. */
function describeMessage({ role, command, output, summary, content }: Fields): string | null {
  if (role === "bashExecution" && typeof command === "string")
    return typeof output === "string" && output !== "" ? `$ ${command}\n${output}` : `$ ${command}`;
  const text = typeof summary === "string" ? summary : contentText(content);
  return text.trim() === "" ? null : text;
}

/** `input` is without cached tokens. */
function toUsage({ input, output, cacheRead, cacheWrite }: Fields): EntryUsage | null {
  const [inputs, outputs, reads, writes] = [input, output, cacheRead, cacheWrite].map((count) =>
    readTokenCount(count),
  ) as [number | null, number | null, number | null, number | null];
  if (inputs === null || outputs === null || reads === null || writes === null) return null;
  return { input: inputs, output: outputs, cache_read: reads, cache_write: writes };
}
