import { getAuthTables } from "@better-auth/core/db";
import { betterAuth, type BetterAuthOptions } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import type { KyselyPlugin } from "kysely";
import type { Orm } from "../database/orm.ts";
import { authOptions, type IdentityOptions } from "./auth-options.ts";
import { shareTransactions } from "./current-transaction.ts";
import { readRefreshToken, RefreshLock } from "./refresh-lock.ts";

/** The part of better-auth that the rest of the service uses. */
export interface Auth {
  handler(request: Request): Promise<Response>;
}

/** Creates better-auth on the service's own database connections. Its tables are in the schema `auth`. */
export function openAuth(orm: Orm, options: IdentityOptions): Auth {
  const auth = betterAuth(withDatabase(orm, authOptions(options)));
  const refreshLock = new RefreshLock(orm);
  return {
    async handler(request) {
      const refreshToken = await readRefreshToken(request);
      const handle = () => auth.handler(request);
      return refreshToken === null ? handle() : refreshLock.run(refreshToken, handle);
    },
  };
}

/** Returns the SQL statements that the schema `auth` still needs, in order; empty when the schema is up to date. */
export async function listMissingStatements(orm: Orm): Promise<string[]> {
  const options = authOptions({
    publicUrl: "http://127.0.0.1:3000",
    secret: "the schema does not depend on the secret",
    social: { github: null, google: null },
    clientMetadataRegistration: null,
    resolveConsentedOrganization: () => Promise.reject(new Error("the schema needs no consent")),
    hooks: {},
  });
  const { compileMigrations } = await getMigrations(withDatabase(orm, options));
  return (await compileMigrations())
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

function withDatabase(orm: Orm, options: BetterAuthOptions): BetterAuthOptions {
  const db = shareTransactions(orm.em.fork().getKysely().withPlugin(dateColumns(options)));
  return { ...options, database: { db, type: "postgres", transaction: true, schemaName: "auth" } };
}

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
