import { deployApp, type DeployDeps, type DeployedApp } from "../apps/deploy-app.ts";
import { uploadArchive } from "../archives/upload-archive.ts";
import { Organization } from "../organizations/organization.entity.ts";
import type { AppData } from "../ports/app-data.ts";
import type { ExportArchive } from "../ports/export-archive.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import type { FairQueue } from "../shared/fair-queue.ts";
import type { ExportManifest } from "./export-manifest.ts";
import { SOURCE_PATH } from "./export-manifest.ts";
import { IMPORT_BUCKET, newImportKey } from "./import-objects.ts";
import { readExport } from "./read-export.ts";

export interface ImportAppDeps extends DeployDeps {
  /** `null` when the apps are on Cloudflare. */
  appData: AppData | null;
  exportArchive: ExportArchive;
  /** Limits how many exports are imported at the same time. */
  appImports: FairQueue;
}

export interface ImportApp {
  file: AsyncIterable<Uint8Array>;
  /** Without it, the name of the exported app. */
  name?: string | undefined;
}

export interface ImportedApp extends DeployedApp {
  /** The variables of the exported app whose values are not in the export. */
  missing_variables: string[];
  /** What the export lacks. */
  warnings: string[];
}

/**
 * Creates an app from an export, and starts its first deployment, which restores the data before the app gets its first request. A call
 * that fails, and a crash, leave nothing; what was accepted survives a crash.
 *
 * @throws {ServiceError} `invalid` for a file that is no export, or is damaged; `plan_limit`; otherwise as `deployApp` and `uploadArchive`
 */
export async function importApp(
  deps: ImportAppDeps,
  caller: Caller,
  { file, name }: ImportApp,
  idempotencyKey: string | null,
): Promise<ImportedApp> {
  if (deps.appData === null)
    throw new ServiceError("conflict", "Apps cannot be imported into an installation whose apps are on Cloudflare.");
  const { plan } = await deps.em.fork().findOneOrFail(Organization, { id: caller.orgId });
  const { storageBytes } = deps.plans.getLimits(plan);
  return await deps.appImports.run(caller.orgId, async () => {
    await using upload = await deps.spool.open();
    for await (const chunk of file) await upload.append(chunk);
    // The whole export is checked before anything of it is stored.
    const manifest = await readExport(deps.exportArchive, upload.read(), storageBytes);
    let archive = "";
    await readExport(deps.exportArchive, upload.read(), storageBytes, async ({ path, content }) => {
      if (path === SOURCE_PATH) archive = (await uploadArchive(deps, caller, { file: content() })).id;
    });
    const importKey = newImportKey(caller.orgId);
    await deps.objects.put(IMPORT_BUCKET, importKey, upload.read());
    const request = toDeployment(manifest, archive, name);
    try {
      const app = await deployApp(deps, caller, request, idempotencyKey, importKey);
      return { ...app, missing_variables: missingVariables(manifest), warnings: [...manifest.warnings] };
    } catch (error) {
      // Another error may come after the commit. The sweep removes the object of a lost transaction.
      if (error instanceof ServiceError) await deps.objects.remove(IMPORT_BUCKET, importKey);
      throw error;
    }
  });
}

function toDeployment({ app }: ExportManifest, archive: string, name = app.name) {
  const variables = app.variables.flatMap(({ name: variable, value, build }) =>
    value === undefined ? [] : [{ name: variable, value, build }],
  );
  return {
    archive,
    name,
    variables,
    build_network: app.build_network,
    root_directory: app.root_directory ?? undefined,
    runtime: app.requested_runtime ?? undefined,
  };
}

function missingVariables({ app }: ExportManifest): string[] {
  return app.variables.filter(({ value }) => value === undefined).map(({ name }) => name);
}
