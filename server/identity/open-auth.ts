import { type BetterAuthOptions, betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import type { Orm } from "../database/orm.ts";
import { shareTransactions } from "./current-transaction.ts";
import { dateColumns } from "./date-columns.ts";
import { authOptions, type IdentityOptions } from "./auth-options.ts";

/** better-auth as the rest of the service sees it: something that answers requests. */
export interface Auth {
  handler(request: Request): Promise<Response>;
}

/** better-auth on the connections of the service, with its tables in the schema `auth`. */
export function openAuth(orm: Orm, options: IdentityOptions): Auth {
  const auth = betterAuth(onDatabase(orm, authOptions(options)));
  return { handler: (request) => auth.handler(request) };
}

/** The statements that the tables of better-auth still lack, in order; none when they are as it wants them. */
export async function missingStatements(orm: Orm): Promise<string[]> {
  const options = authOptions({
    publicUrl: "http://127.0.0.1:3000",
    secret: "the schema does not depend on the secret",
    social: { github: null, google: null },
    clientMetadataRegistration: null,
    hooks: {},
  });
  const { compileMigrations } = await getMigrations(onDatabase(orm, options));
  return (await compileMigrations())
    .split(/;\s*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== "");
}

function onDatabase(orm: Orm, options: BetterAuthOptions): BetterAuthOptions {
  const db = shareTransactions(orm.em.fork().getKysely().withPlugin(dateColumns(options)));
  return { ...options, database: { db, type: "postgres", transaction: true, schemaName: "auth" } };
}
