import type { Db } from "../database-types.ts";
import type { NewRow } from "./entry-rows.ts";
import type { NewEntry } from "./transcript-entry.ts";

/** Finds which of the ids of entries a session has already. */
export async function findKnownIds(
  tx: Db,
  sessionId: string,
  entries: readonly NewEntry[],
): Promise<ReadonlySet<string>> {
  const rows = await tx
    .selectFrom("session_entries")
    .select("entry_id")
    .where("session_id", "=", sessionId)
    .where(
      "entry_id",
      "in",
      entries.map(({ id }) => id),
    )
    .execute();
  return new Set(rows.map(({ entry_id: id }) => id));
}

/** With more rows, a statement with one parameter for each column is faster than one for each value. */
const MAX_VALUES_ROWS = 20;

export async function insertRows(tx: Db, rows: readonly NewRow[]): Promise<void> {
  const insert = tx.insertInto("session_entries");
  if (rows.length <= MAX_VALUES_ROWS) await insert.values(rows).execute();
  else await insert.columns(COLUMNS).expression(selectRows(tx, rows)).execute();
}

/**
 * Returns the rows from one JSON array for each column, which PostgreSQL reads in parallel. Measured with 1,000 rows: 0.6 of
 * the time of a list of values with contents of 200 bytes, 0.87 with contents of 2 KB.
 */
function selectRows(tx: Db, rows: readonly NewRow[]) {
  return tx.selectNoFrom(({ fn, cast, val }) =>
    COLUMNS.map((column) => {
      const json = JSON.stringify(rows.map((row) => row[column]));
      const elements = fn<string>("json_array_elements_text", [val(json)]);
      const type = TYPES[column];
      return (type === "text" ? elements : cast(elements, type)).as(column);
    }),
  );
}

const TYPES = {
  session_id: "uuid",
  seq: "integer",
  server_id: "uuid",
  entry_id: "text",
  role: "text",
  content: "text",
  tool_name: "text",
  tool_call_id: "text",
  tool_is_error: "boolean",
  model: "text",
  input_tokens: "bigint",
  output_tokens: "bigint",
  cache_read_tokens: "bigint",
  cache_write_tokens: "bigint",
  created_at: "timestamptz",
} as const satisfies Record<keyof NewRow, string>;

const COLUMNS = Object.keys(TYPES) as (keyof NewRow)[];
