import { isRecord } from "../../../shared/json.ts";
import type { EntryRole, EntryUsage, NewEntry } from "../../transcript-entry.ts";
import { EntryBuilder, readId, readRecordId, toTimeText } from "../entry-builder.ts";
import { toTitle } from "../session-title.ts";
import { SkippedRecords } from "../skipped-records.ts";
import { isNoUsage, readTokenCount } from "../token-counts.ts";
import type { ReadSession, TranscriptReader, TranscriptRecord } from "../transcript-reader.ts";
import { type PartText, readPart } from "./message-parts.ts";

type Fields = Record<string, unknown>;

interface Message {
  id: string;
  role: EntryRole;
  model: unknown;
  time: string | undefined;
}

/** A default title of opencode, which says nothing about the session. */
const DEFAULT_TITLE = /^(New|Child) session - /;

/** Reads what `opencode export` writes: a JSON document with a session, and its messages with their parts. */
export class OpencodeReader implements TranscriptReader {
  readonly #builder = new EntryBuilder();
  readonly #skipped = new SkippedRecords();
  /** The last message, if it is a response that was not complete when the session was exported. */
  #unfinished: Fields | null = null;
  #id: string | null = null;
  #title: string | null = null;
  #prompt: string | null = null;

  read({ value }: TranscriptRecord): NewEntry[] {
    const { info, parts } = value;
    if (!isRecord(info)) {
      this.#skipped.add("unknown");
      return [];
    }
    if (!Array.isArray(parts)) return this.#readSession(info);
    this.#id ??= readId(info["sessionID"]) ?? null;
    const before = this.#unfinished === null ? [] : this.#readMessage(this.#unfinished, true);
    this.#unfinished = isFinished(info) ? null : value;
    return this.#unfinished === null ? [...before, ...this.#readMessage(value, true)] : before;
  }

  end(): NewEntry[] {
    return this.#unfinished === null ? [] : this.#readMessage(this.#unfinished, false);
  }

  session(): ReadSession {
    return { id: this.#id, title: this.#title ?? this.#prompt };
  }

  skipped(): Record<string, number> {
    return this.#skipped.toObject();
  }

  #readSession({ id, title }: Fields): NewEntry[] {
    this.#id = readId(id) ?? this.#id;
    if (typeof title === "string" && !DEFAULT_TITLE.test(title)) this.#title = toTitle(title);
    return [];
  }

  /** @param isWhole - whether no further parts are expected. Otherwise the last step of the response is left out. */
  #readMessage({ info, parts }: Fields, isWhole: boolean): NewEntry[] {
    if (!isRecord(info) || !Array.isArray(parts)) return [];
    const message = toMessage(info);
    const entries: NewEntry[] = [];
    let step: NewEntry[] = [];
    let hasSteps = false;
    for (const part of parts) {
      if (!isRecord(part)) continue;
      if (part["type"] === "step-finish") {
        hasSteps = true;
        entries.push(...this.#endStep(message, step, part));
        step = [];
      } else step.push(...this.#readPart(message, part));
    }
    if (!isWhole) return entries;
    const rest = hasSteps ? step : this.#addUsage(message, step, info);
    return [...entries, ...rest, ...this.#readError(message, info["error"])];
  }

  #endStep(message: Message, step: NewEntry[], { id, tokens }: Fields): NewEntry[] {
    return this.#addUsage({ ...message, id: readRecordId(id) ?? message.id }, step, { tokens });
  }

  #addUsage(message: Message, step: NewEntry[], { tokens }: Fields): NewEntry[] {
    const usage = this.#readUsage(tokens);
    if (message.role !== "assistant" || usage === undefined) return step;
    const [first, ...others] = step;
    if (first !== undefined) return [{ ...first, usage }, ...others];
    const { id, model, time } = message;
    const content = "[a response without text]";
    return [this.#builder.build({ id: `${id}.usage`, role: "assistant", content, model, usage, time })];
  }

  #readUsage(tokens: unknown): EntryUsage | undefined {
    if (!isRecord(tokens)) return undefined;
    const usage = toUsage(tokens);
    if (usage === null) this.#skipped.add("usage");
    return usage === null || isNoUsage(usage) ? undefined : usage;
  }

  #readPart(message: Message, part: Fields): NewEntry[] {
    const id = readRecordId(part["id"]);
    const texts = id === undefined ? [] : readPart(part);
    if (texts.length === 0) this.#skipped.add("part", part["type"]);
    return texts.map((text) => this.#toEntry(message, `${id}${text.suffix ?? ""}`, text));
  }

  #toEntry(message: Message, id: string, { content, tool, role, time }: PartText): NewEntry {
    const entryRole = role ?? message.role;
    if (entryRole === "user") this.#prompt ??= toTitle(content);
    return this.#builder.build({
      id,
      role: entryRole,
      content,
      ...(tool && { tool }),
      model: entryRole === "assistant" ? message.model : undefined,
      time: time ?? message.time,
    });
  }

  #readError({ id, time }: Message, error: unknown): NewEntry[] {
    if (!isRecord(error)) return [];
    const { name, data } = error;
    const message = isRecord(data) ? data["message"] : error["message"];
    const parts = [name, message].filter((part) => typeof part === "string" && part !== "");
    const content = parts.length === 0 ? "Error" : `Error: ${parts.join(": ")}`;
    return [this.#builder.build({ id: `${id}.error`, role: "system", content, time })];
  }
}

/** A message of the user is finished from the beginning. */
function isFinished({ role, time, error }: Fields): boolean {
  return role !== "assistant" || isRecord(error) || (isRecord(time) && typeof time["completed"] === "number");
}

function toMessage(info: Fields): Message {
  const { id, role, model, modelID, time } = info;
  return {
    id: readRecordId(id) ?? "message",
    role: role === "assistant" ? "assistant" : "user",
    model: modelID ?? (isRecord(model) ? model["modelID"] : undefined),
    time: toTimeText(isRecord(time) ? time["created"] : undefined),
  };
}

/** `input` is without cached tokens, and `output` without those of reasoning. */
function toUsage({ input, output, reasoning, cache }: Fields): EntryUsage | null {
  const { read, write } = isRecord(cache) ? cache : {};
  const [inputs, outputs, thinking, reads, writes] = [input, output, reasoning, read, write].map((count) =>
    readTokenCount(count),
  ) as [number | null, number | null, number | null, number | null, number | null];
  if (inputs === null || outputs === null || thinking === null || reads === null || writes === null) return null;
  return { input: inputs, output: outputs + thinking, cache_read: reads, cache_write: writes };
}
