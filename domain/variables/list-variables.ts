import { appNotFound } from "../apps/get-app.ts";
import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import { type ApplyStatus, selectApplyStatus, toApplyStatus } from "./apply-status.ts";
import type { VariableCipher } from "./variable-cipher.ts";
import type { VariableView } from "./variable-view.ts";

export interface ListVariablesDeps {
  db: Db;
  variableCipher: VariableCipher;
}

export type VariableList = { variables: VariableView[] } & ApplyStatus;

/**
 * Lists the variables of an app by name. The values of secrets are not returned.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app
 */
export async function listVariables(
  { db, variableCipher }: ListVariablesDeps,
  { orgId }: Caller,
  appId: string,
): Promise<VariableList> {
  const app = await selectApplyStatus(db, appId).where("apps.org_id", "=", orgId).executeTakeFirst();
  if (app === undefined) throw appNotFound();
  const rows = await db.selectFrom("app_variables").selectAll().where("app_id", "=", appId).orderBy("name").execute();
  const variables = rows.map((row) => ({
    name: row.name,
    value: row.is_secret ? null : variableCipher.open(row.sealed_value, { appId, name: row.name, isSecret: false }),
    secret: row.is_secret,
    build: row.is_for_build,
    created_at: toIsoTimestamp(row.created_at),
    updated_at: toIsoTimestamp(row.updated_at),
  }));
  return { variables, ...toApplyStatus(app) };
}
