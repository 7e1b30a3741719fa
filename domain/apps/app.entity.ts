import { randomUUID } from "node:crypto";
import { defineEntity, p } from "@mikro-orm/core";
import { type Runtime, RUNTIMES } from "../ports/bundler.ts";
import { quotedList } from "../shared/quoted-list.ts";
import { APP_STATUSES, type AppStatus } from "./app-status.ts";

/** The resources of an app. The ids are recorded before the resources are created. */
export interface Manifest {
  sql_database_id?: string;
  object_bucket_name?: string;
  framework?: string;
}

/** The data of an app that lasts across its deployments. */
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
    /** The production app of an environment; `null` for a production app. */
    parentId: p.uuid().nullable(),
    /** The name of the environment, such as `staging`; `null` for a production app. */
    environment: p.string().nullable(),
    name: p.string(),
    slug: p.string().unique(),
    /** As owner/name; `null` for an app that is deployed from archives. */
    repo: p.string().nullable(),
    /** The archive that a deployment without one deploys; `null` for an app from a repository. */
    archiveId: p.string().nullable(),
    /** The connected git host that has the repository; `null` for the service's own. */
    gitHost: p.text().nullable(),
    /** Where the export is whose data the first live version gets; `null` for other apps, and from then on. */
    importKey: p.string().nullable(),
    /** `null` for an app without a repository. */
    branch: p.string().nullable(),
    /** The folder to build, relative to the root of the repository, such as `apps/web`; `null` to find it. */
    rootDirectory: p.string().nullable(),
    /** Whether the build script may connect to public addresses, if the operator allows it. */
    buildNetwork: p.boolean().default(false),
    /** How the owner wants the app to run; `null` to detect it. */
    requestedRuntime: p.string().$type<Runtime>().nullable(),
    /** How the live version runs. Before the first one is live, the newest that was built; `null` before the first build. */
    runtime: p.string().$type<Runtime>().nullable(),
    /** `deleting`, or else a copy of the newest deployment's status, so that a list of apps reads one table. */
    status: p.string().$type<AppStatus>(),
    /** A copy of the newest deployment's message, or a message about the teardown. */
    statusMessage: p.text().nullable(),
    /** A copy of the newest deployment's error. */
    error: p.text().nullable(),
    manifest: p.json<Manifest>().nullable(),
    latestDeploymentId: p.uuid(),
    /** The deployment that serves requests; `null` before the first one is ready. */
    liveDeploymentId: p.uuid().nullable(),
    /** The newest fencing token. A claim or a deletion raises it, and then a worker with an older token writes nothing. */
    fencingToken: p.integer().default(0),
    /** Raised to rotate the derived app token. */
    tokenVersion: p.integer().default(1),
    /** When the token of the previous version expires. */
    previousTokenUntil: p.datetime(3).nullable(),
    /** Grows with every change of the app's variables. */
    variablesVersion: p.integer().default(0),
    /** The newest version of the variables with which the app was restarted, or should have been. */
    variablesTriedVersion: p.integer().default(0),
    /** Why the app did not start with this version; `null` if it did. */
    variablesProblem: p.text().nullable(),
    /** Why the app is stopped although it is live: it stores too much. `null` if it is not stopped. */
    storageProblem: p.text().nullable(),
    createdAt: p.datetime(3).onCreate(() => new Date()),
    updatedAt: p
      .datetime(3)
      .onCreate(() => new Date())
      .onUpdate(() => new Date()),
  },
  uniques: [{ properties: ["parentId", "environment"] }],
  indexes: [{ properties: ["orgId", "createdAt"] }, { properties: ["archiveId"] }],
  triggers: [
    {
      name: "notify_app",
      timing: "after",
      events: ["insert", "update", "delete"],
      /** Sends an event of the organization. A migration defines the function. */
      expression: `create trigger "notify_app" after insert or delete or update of "name", "status", "status_message", "error", "storage_problem", "live_deployment_id", "updated_at" on "apps" for each row execute function "notify_app"()`,
    },
  ],
  checks: [
    { name: "apps_status_check", expression: `status in (${quotedList(APP_STATUSES)})` },
    { name: "apps_requested_runtime_check", expression: `requested_runtime in (${quotedList(RUNTIMES)})` },
    {
      name: "apps_source_check",
      expression: "(repo is null) = (archive_id is not null) and (repo is null) = (branch is null)",
    },
    { name: "apps_environment_check", expression: "(parent_id is null) = (environment is null)" },
    { name: "apps_runtime_check", expression: `runtime in (${quotedList(RUNTIMES)})` },
  ],
});

export class App extends AppSchema.class {}
AppSchema.setClass(App);
