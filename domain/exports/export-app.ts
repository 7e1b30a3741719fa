import { createHash } from "node:crypto";
import { sourceBucketName, sqlDatabaseId } from "../apps/app-resources.ts";
import { appNotFound } from "../apps/get-app.ts";
import { ARCHIVE_BUCKET } from "../archives/archive-objects.ts";
import type { Db } from "../database-types.ts";
import type { AppData } from "../ports/app-data.ts";
import type { ExportArchive, ExportMember } from "../ports/export-archive.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { Spool, SpoolFile } from "../ports/spool.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { FairQueue } from "../shared/fair-queue.ts";
import { listVariables, type ListVariablesDeps } from "../variables/list-variables.ts";
import { DATA_PREFIX, type ExportedApp, formatManifest, MANIFEST_PATH, SOURCE_PATH } from "./export-manifest.ts";

export interface ExportAppDeps extends ListVariablesDeps {
  db: Db;
  spool: Spool;
  objects: ObjectStore;
  /** `null` when the apps are on Cloudflare. */
  appData: AppData | null;
  exportArchive: ExportArchive;
  /** Limits how many exports are made and downloaded at the same time. */
  appExports: FairQueue;
}

export interface ExportApp {
  /** The id of the app. */
  id: string;
  /** Whether the values of variables that are not secret are in the export; not by default. */
  variables?: boolean | undefined;
}

/** A file to download. It must be closed, also when it is not read. */
export interface Download {
  /** Its name, for the client. */
  name: string;
  content: AsyncIterable<Uint8Array>;
  close(): void;
}

/**
 * Exports an app with its data while it runs. Its token and the values of secrets are not in the export.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app; `conflict` for one that is not live, or cannot be exported;
 *   `unavailable` while too many exports run
 */
export async function exportApp(
  deps: ExportAppDeps,
  caller: Caller,
  request: ExportApp,
  signal: AbortSignal,
): Promise<Download> {
  const app = await findApp(deps.db, caller, request.id);
  const release = await deps.appExports.acquire(caller.orgId, signal);
  const opened = new AsyncDisposableStack();
  opened.defer(release);
  try {
    const content = await openContent(deps, caller, { app, request, signal }, opened).catch(async (error: unknown) => {
      await requireUnchanged(deps.db, caller, app);
      throw error;
    });
    // Files that vanish while they are copied are left out, so the copy is complete only if the app still exists.
    await requireUnchanged(deps.db, caller, app);
    return { name: `${app.slug}.tar.gz`, content, close: () => void opened.disposeAsync() };
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

type LiveApp = Awaited<ReturnType<typeof findApp>>;

async function findApp(db: Db, { orgId }: Caller, id: string) {
  const app = await db
    .selectFrom("apps as app")
    .leftJoin("deployments as live", "live.id", "app.live_deployment_id")
    .select(["app.id", "app.slug", "app.name", "app.requested_runtime", "app.build_network", "app.git_host"])
    .select(["app.latest_deployment_id", "app.live_deployment_id", "live.repo", "live.branch", "live.commit"])
    .select(["live.archive_id", "live.root_directory", "live.trigger", "live.customization"])
    .where("app.id", "=", id)
    .where("app.org_id", "=", orgId)
    .where("app.status", "!=", "deleting")
    .executeTakeFirst();
  if (app === undefined) throw appNotFound();
  if (app.live_deployment_id === null)
    throw new ServiceError("conflict", "The app is not live. Deploy it, and export it then.");
  return app;
}

/** @throws {ServiceError} when the app was deleted, or another version is live, since its copy began */
async function requireUnchanged(db: Db, caller: Caller, { id, live_deployment_id: live }: LiveApp): Promise<void> {
  const { live_deployment_id: current } = await findApp(db, caller, id);
  if (current !== live)
    throw new ServiceError("conflict", "Another version of the app went live during the export. Export it again.");
}

interface Exporting {
  app: LiveApp;
  request: ExportApp;
  signal: AbortSignal;
}

async function openContent(
  deps: ExportAppDeps,
  caller: Caller,
  { app, request, signal }: Exporting,
  opened: AsyncDisposableStack,
): Promise<AsyncIterable<Uint8Array>> {
  if (deps.appData === null)
    throw new ServiceError("conflict", "Apps cannot be exported from an installation whose apps are on Cloudflare.");
  const source = opened.use(await deps.spool.open());
  const listedSource = await copySource(deps, caller, app, source);
  const location = { appId: app.id, slug: app.slug, databaseId: sqlDatabaseId(app.id) };
  const data = opened.use(await deps.appData.copy(location, signal));
  const members = [
    { path: SOURCE_PATH, ...listedSource, content: () => source.read() },
    ...data.files.map((file) => ({ ...file, path: `${DATA_PREFIX}${file.path}`, content: () => file.content() })),
  ];
  const manifest = formatManifest({
    exported_at: new Date().toISOString(),
    runtime: data.runtime,
    app: await describeApp(deps, caller, app, request.variables === true),
    warnings: data.warnings,
    members: members.map(({ path, size, sha256 }) => ({ path, size, sha256 })),
  });
  const first: ExportMember = { path: MANIFEST_PATH, size: manifest.length, content: () => chunksOf(manifest) };
  return deps.exportArchive.pack([first, ...members]);
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** Copies the source of the live version. It can be removed during the download. */
async function copySource(deps: ExportAppDeps, { orgId }: Caller, app: LiveApp, copy: SpoolFile) {
  const hash = createHash("sha256");
  let size = 0;
  for await (const chunk of await openSource(deps, orgId, app)) {
    hash.update(chunk);
    size += chunk.length;
    await copy.append(chunk);
  }
  return { size, sha256: hash.digest("hex") };
}

async function openSource(
  { db, objects, exportArchive }: ExportAppDeps,
  orgId: string,
  app: LiveApp,
): Promise<AsyncIterable<Uint8Array>> {
  if (app.archive_id !== null && app.customization === null) {
    const archive = await db
      .selectFrom("archives")
      .select("object_key")
      .where("org_id", "=", orgId)
      .where("id", "=", app.archive_id)
      .executeTakeFirst();
    if (archive !== undefined) return objects.read(ARCHIVE_BUCKET, archive.object_key);
  }
  // These files are of the newest build.
  if (app.latest_deployment_id !== app.live_deployment_id || app.trigger === "rollback" || app.trigger === "promotion")
    throw new ServiceError(
      "conflict",
      "The source of the live version is not kept. Deploy the app again, and export it then.",
    );
  const bucket = sourceBucketName(app.id);
  const stored = await objects.list(bucket);
  return exportArchive.pack(
    stored.map(({ key, size }) => ({ path: key, size, content: () => objects.read(bucket, key) })),
  );
}

async function describeApp(
  deps: ExportAppDeps,
  caller: Caller,
  app: LiveApp,
  withValues: boolean,
): Promise<ExportedApp> {
  const { variables } = await listVariables(deps, caller, app.id);
  const { repo, branch, commit, git_host: host } = app;
  return {
    name: app.name,
    requested_runtime: app.requested_runtime,
    root_directory: app.root_directory,
    build_network: app.build_network,
    repository: repo === null ? null : { repo, host, branch, commit },
    variables: variables.map(({ name, secret, build, value }) => ({
      ...{ name, secret, build },
      ...(withValues && !secret && value !== null && { value }),
    })),
  };
}
