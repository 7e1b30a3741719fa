import { appNotFound } from "../apps/get-app.ts";
import type { Db } from "../database-types.ts";
import type { LoggedApp } from "../ports/runtime-logs.ts";

/** @throws {ServiceError} `not_found` when the organization has no such app */
export async function findLoggedApp(db: Db, { orgId, id }: { orgId: string; id: string }): Promise<LoggedApp> {
  const app = await db
    .selectFrom("apps")
    .select(["id", "slug"])
    .where("id", "=", id)
    .where("org_id", "=", orgId)
    .executeTakeFirst();
  if (app === undefined) throw appNotFound();
  return app;
}
