import type { AppData, AppDataFile, RestoredApp } from "../ports/app-data.ts";
import type { Runtime } from "../ports/bundler.ts";
import type { ExportArchive } from "../ports/export-archive.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import { BuildFailure, ServiceError } from "../shared/errors.ts";
import { DATA_PREFIX, type ExportManifest, MANIFEST_PATH } from "./export-manifest.ts";
import { IMPORT_BUCKET } from "./import-objects.ts";
import { readManifest } from "./read-export.ts";

export interface RestoreImportDeps {
  objects: ObjectStore;
  exportArchive: ExportArchive;
  /** `null` when the apps are on Cloudflare. */
  appData: AppData | null;
}

export interface Restoration {
  app: RestoredApp;
  /** Where the export is. */
  importKey: string;
  /** How the new version runs. */
  runtime: Runtime;
  signal: AbortSignal;
}

/**
 * Restores the data of an export for an app that has never been live. Safe to repeat.
 *
 * @returns what is left out
 * @throws {BuildFailure} `user` when the data is of an app that runs in another way
 */
export async function restoreImport(
  { objects, exportArchive, appData }: RestoreImportDeps,
  { app, importKey, runtime, signal }: Restoration,
): Promise<string[]> {
  if (appData === null) throw new Error("this process cannot restore the data of apps");
  async function* openFiles(): AsyncGenerator<AppDataFile> {
    // It was checked when it was imported, and nobody else can change it.
    const members = exportArchive.read(objects.read(IMPORT_BUCKET, importKey), Infinity);
    for await (const member of members) {
      if (member.path === MANIFEST_PATH) checkRuntime(await readManifest(member), runtime);
      else if (member.path.startsWith(DATA_PREFIX)) yield { ...member, path: member.path.slice(DATA_PREFIX.length) };
      else for await (const _ of member.content());
    }
  }
  try {
    return await appData.restore(app, openFiles, signal);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new BuildFailure("user", "The data of the export could not be restored.", error.message, { cause: error });
  }
}

function checkRuntime({ runtime: exported }: ExportManifest, runtime: Runtime): void {
  if (exported === runtime) return;
  throw new BuildFailure(
    "user",
    `The export has the data of an app that ran as "${exported}", but this one runs as "${runtime}".`,
    `Set the runtime of the app to "${exported}", and deploy again.`,
  );
}
