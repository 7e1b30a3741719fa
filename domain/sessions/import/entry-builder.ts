import { isClientId, isToolName, SESSION_LIMITS } from "../session-rules.ts";
import type { EntryRole, EntryUsage, NewEntry } from "../transcript-entry.ts";
import { toStorableText, truncateBytes } from "./sanitize-text.ts";

/** An entry as a file has it: its texts, time and names may be anything. */
export interface EntryDraft {
  id: string;
  role: EntryRole;
  content: string;
  tool?: { name: unknown; callId: unknown; isError?: boolean | undefined };
  model?: unknown;
  usage?: EntryUsage | undefined;
  time: unknown;
}

/** Names a tool whose name is not known, or cannot be stored. */
const UNKNOWN_TOOL = "unknown";

/** Makes the entries of one transcript, which can be stored whatever the file contains. */
export class EntryBuilder {
  #time: string | undefined;

  build({ id, role, content, tool, model, usage, time }: EntryDraft): NewEntry {
    this.#time = readTime(time) ?? this.#time;
    return {
      id,
      role,
      content: truncateBytes(toStorableText(content), SESSION_LIMITS.contentBytes),
      ...(tool && { tool: { name: readToolName(tool.name), call_id: readId(tool.callId), is_error: tool.isError } }),
      model: readId(model),
      usage,
      created_at: this.#time,
    };
  }
}

/** Returns an id or a name that entries may have; `undefined` for any other value. */
export function readId(value: unknown): string | undefined {
  return typeof value === "string" && isClientId(value) ? value : undefined;
}

function readToolName(value: unknown): string {
  return typeof value === "string" && isToolName(value) ? value : UNKNOWN_TOOL;
}

/** @returns `undefined` for a time before 1970, in the future, or that does not exist */
function readTime(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  const time = new Date(value);
  return time.getTime() >= 0 && time.getTime() <= Date.now() ? time.toISOString() : undefined;
}
