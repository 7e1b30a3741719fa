export const ENTRY_ROLES = ["user", "assistant", "system", "tool"] as const;

export type EntryRole = (typeof ENTRY_ROLES)[number];

/** An entry to append to a session: one message, tool call or tool result. */
export interface NewEntry {
  /** Client-given, unique within the session, 1 to 128 visible ASCII characters. Appending an id again changes nothing. */
  id: string;
  role: EntryRole;
  /** Text; for a tool call the arguments as JSON text, for a tool result its text. */
  content: string;
  /** Of a tool call (role assistant) or a tool result (role tool). */
  tool?: EntryTool | undefined;
  model?: string | undefined;
  /** Tokens of the model request that produced this entry. */
  usage?: EntryUsage | undefined;
  /** RFC 3339; by default the time of the append. */
  created_at?: string | undefined;
}

export interface EntryTool {
  name: string;
  call_id?: string | undefined;
  is_error?: boolean | undefined;
}

/** `input` is without cached tokens, so the total is the sum of the four. */
export interface EntryUsage {
  input: number;
  output: number;
  cache_read: number;
  cache_write: number;
}
