import { getAuthTables } from "@better-auth/core/db";
import type { BetterAuthOptions } from "better-auth";
import type { KyselyPlugin } from "kysely";

/**
 * Converts timestamps to `Date` in the columns that better-auth declares as dates. The database connection of the service
 * returns timestamps as text, and better-auth expects a `Date`.
 */
export function dateColumns(options: BetterAuthOptions): KyselyPlugin {
  const columns = new Set(
    Object.values(getAuthTables(options)).flatMap(({ fields }) =>
      Object.entries(fields)
        .filter(([, { type }]) => type === "date")
        .map(([key, { fieldName }]) => fieldName ?? key),
    ),
  );
  return {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      for (const row of result.rows)
        for (const key of Object.keys(row)) {
          const value = row[key];
          if (columns.has(key) && typeof value === "string") row[key] = new Date(value);
        }
      return result;
    },
  };
}
