import { getAuthTables } from "@better-auth/core/db";
import type { BetterAuthOptions } from "better-auth";
import type { KyselyPlugin } from "kysely";

/**
 * The database hands timestamps out as text and better-auth expects a `Date`. Turns exactly the columns that better-auth
 * declares as dates into `Date`s.
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
