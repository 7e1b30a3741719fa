import type { Insertable } from "kysely";
import type { DatabaseTables } from "../database-types.ts";
import type { SessionRow } from "./session-view.ts";
import type { NewEntry } from "./transcript-entry.ts";

export type NewRow = Insertable<DatabaseTables["session_entries"]> & { created_at: Date };

/**
 * Numbers the new entries of a session. Leaves out known ones, and all but the first of those with the same id.
 *
 * @param known - the ids that the session already has
 */
export function toRows(
  session: Pick<SessionRow, "id" | "server_id" | "message_count">,
  entries: readonly NewEntry[],
  known: ReadonlySet<string>,
): NewRow[] {
  const now = new Date();
  const seen = new Set(known);
  const rows: NewRow[] = [];
  for (const { id, role, content, tool, model, usage, created_at: createdAt } of entries) {
    if (seen.has(id)) continue;
    seen.add(id);
    rows.push({
      session_id: session.id,
      seq: session.message_count + rows.length + 1,
      server_id: session.server_id,
      entry_id: id,
      role,
      content,
      tool_name: tool?.name ?? null,
      tool_call_id: tool?.call_id ?? null,
      tool_is_error: tool?.is_error ?? null,
      model: model ?? null,
      input_tokens: toColumn(usage?.input),
      output_tokens: toColumn(usage?.output),
      cache_read_tokens: toColumn(usage?.cache_read),
      cache_write_tokens: toColumn(usage?.cache_write),
      created_at: createdAt === undefined ? now : new Date(createdAt),
    });
  }
  return rows;
}

function toColumn(tokens: number | undefined): string | null {
  return tokens === undefined ? null : String(tokens);
}
