import { z } from "zod";
import { DATABASE_LIMITS, type QueryResult } from "../../../../domain/ports/app-databases.ts";

/** What the program that reads a database reports. The database may have taken it over. */
const count = z.int().nonnegative();
const value = z.union([
  z.null(),
  z.boolean(),
  z.number(),
  z.string(),
  z.object({ text: z.string(), bytes: count }),
  z.object({ base64: z.base64(), bytes: count }),
]);

export const queryResult = z.object({
  columns: z.array(z.object({ name: z.string() })).max(2000),
  rows: z.array(z.array(value)),
  is_truncated: z.boolean(),
  duration_ms: count,
}) satisfies z.ZodType<QueryResult>;

export const describedTables = z.object({
  tables: z
    .array(
      z.object({
        schema: z.string(),
        name: z.string(),
        kind: z.enum(["table", "view"]),
        columns: z.array(z.object({ name: z.string(), type: z.string(), is_primary_key: z.boolean() })),
        row_count: count.nullable(),
        has_more_rows: z.boolean(),
      }),
    )
    .max(DATABASE_LIMITS.tables),
  has_more_tables: z.boolean(),
});

export type DescribedTables = z.infer<typeof describedTables>;

const MAX_MESSAGE_LENGTH = 500;

export const problemReport = z.object({
  problem: z.union([z.object({ reason: z.string() }), z.object({ sqlite: z.string().transform(toPlainText) })]),
});

/** Without control characters, and not longer than a message of ours. */
export function toPlainText(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ").slice(0, MAX_MESSAGE_LENGTH);
}
