import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import { APP_STATUSES, type AppStatus } from "./app-status.ts";

/** What the platform made for an app; ids are recorded before the resources are created. */
export interface Manifest {
  sql_database_id?: string;
  object_bucket_name?: string;
  framework?: string;
}

export const AppSchema = defineEntity({
  name: "App",
  tableName: "apps",
  properties: {
    id: p
      .uuid()
      .primary()
      .onCreate(() => randomUUID()),
    orgId: p.uuid(),
    createdBy: p.uuid().nullable(),
    name: p.string(),
    slug: p.string().unique(),
    repo: p.string(),
    branch: p.string(),
    status: p.string().$type<AppStatus>(),
    statusMessage: p.text().nullable(),
    error: p.text().nullable(),
    manifest: p.json<Manifest>().nullable(),
    /** Raised by whoever takes the app over (a worker, a deletion), so what an earlier one still writes is refused. */
    fence: p.integer().default(0),
    /** Raised to rotate the derived app token. */
    tokenVersion: p.integer().default(1),
    /** Until when the token of the version before is good as well. */
    previousTokenUntil: p.datetime(3).nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    updatedAt: p
      .datetime(3)
      .onCreate(() => new Date())
      .onUpdate(() => new Date()),
  },
  indexes: [{ properties: ["orgId", "createdAt"] }],
  checks: [{ name: "apps_status_check", expression: `status in (${APP_STATUSES.map((s) => `'${s}'`).join(", ")})` }],
});

export class App extends AppSchema.class {}
AppSchema.setClass(App);
