import type { Selectable } from "kysely";
import type { DatabaseTables } from "../database-types.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import type { MemoryKind } from "./memory-rules.ts";

export type MemoryRow = Selectable<DatabaseTables["memories"]>;

export interface MemoryView {
  memory_id: string;
  kind: MemoryKind;
  content: string;
  /** Whether the content has the form of an instruction to a language model. */
  instruction_like: boolean;
  created_at: string;
  /** When the current content was stored. */
  updated_at: string;
  /** Who has stored the current content; `null` when no user is known. */
  user_id: string | null;
  credential_kind: string;
  credential_id: string;
}

export function toMemoryView(row: MemoryRow): MemoryView {
  return {
    memory_id: row.id,
    kind: row.kind,
    content: row.content,
    instruction_like: row.instruction_like,
    created_at: toIsoTimestamp(row.created_at),
    updated_at: toIsoTimestamp(row.updated_at),
    user_id: row.user_id,
    credential_kind: row.credential_kind,
    credential_id: row.credential_id,
  };
}
