import type { EntityManager } from "@mikro-orm/core";
import { artifactBucketName } from "../apps/app-resources.ts";
import { App } from "../apps/app.entity.ts";
import { IN_PROGRESS } from "../apps/app-status.ts";
import type { AssetRules, Bundle, Migration } from "../ports/bundler.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { Workspace } from "../ports/workspaces.ts";
import { removeProcedures } from "../procedures/replace-procedures.ts";
import { Deployment } from "./deployment.entity.ts";

/** How many bundles of an app are kept, with the live one. */
const KEPT_ARTIFACTS = 5;

const SCRIPT = "script.form";
const ASSETS = "assets/";
/** Written last: an artifact without it is incomplete. */
const DESCRIPTION = "bundle.json";

interface Description {
  framework: string | null;
  /** `null` if the app has no static files. */
  assetRules: AssetRules | null;
  migrations: Migration[];
}

interface ArtifactDeps {
  objects: ObjectStore;
}

/** Stores the bundle of a deployment, so that a rollback needs no build. Returns its key. Safe to repeat. */
export async function storeArtifact(
  { objects }: ArtifactDeps,
  { appId, number }: { appId: string; number: number },
  { bundle, workspace, signal }: { bundle: Bundle; workspace: Workspace; signal: AbortSignal },
): Promise<string> {
  const bucket = artifactBucketName(appId);
  const key = String(number);
  await removeArtifact(objects, bucket, key);
  await objects.put(bucket, `${key}/${SCRIPT}`, await workspace.readFile(bundle.scriptPath));
  if (bundle.assets !== null) {
    for await (const file of workspace.filesIn(bundle.assets.directory)) {
      signal.throwIfAborted();
      await objects.put(bucket, `${key}/${ASSETS}${file.path}`, await file.read());
    }
  }
  const { framework, migrations, assets } = bundle;
  const description: Description = { framework, assetRules: assets?.rules ?? null, migrations };
  await objects.put(bucket, `${key}/${DESCRIPTION}`, new TextEncoder().encode(JSON.stringify(description)));
  return key;
}

/** Copies a stored bundle to a workspace. Returns `null` when it is not kept any more. */
export async function loadArtifact(
  { objects }: ArtifactDeps,
  { appId, key }: { appId: string; key: string },
  { workspace, signal }: { workspace: Workspace; signal: AbortSignal },
): Promise<Bundle | null> {
  const bucket = artifactBucketName(appId);
  const description = await readDescription(objects, bucket, key);
  const script = await objects.get(bucket, `${key}/${SCRIPT}`);
  if (description === null || script === null) return null;
  const { framework, migrations, assetRules } = description;
  const scriptPath = await workspace.writeOutput(SCRIPT, script);
  if (assetRules === null) return { scriptPath, assets: null, framework, migrations, warnings: [] };
  const prefix = `${key}/${ASSETS}`;
  for (const { key: file } of await objects.list(bucket)) {
    signal.throwIfAborted();
    const body = file.startsWith(prefix) ? await objects.get(bucket, file) : null;
    if (body !== null) await workspace.writeOutput(ASSETS + file.slice(prefix.length), body);
  }
  const directory = await workspace.createOutputFolder(ASSETS);
  return { scriptPath, assets: { directory, rules: assetRules }, framework, migrations, warnings: [] };
}

/** The names of the migrations of a stored bundle; none when it is not kept any more. */
export async function readMigrationNames(
  { objects }: ArtifactDeps,
  { appId, key }: { appId: string; key: string | null },
): Promise<string[]> {
  const description = key === null ? null : await readDescription(objects, artifactBucketName(appId), key);
  return description?.migrations.map(({ name }) => name) ?? [];
}

/**
 * Removes the bundles of an app that are not among the newest ones, and those of deployments that failed. The procedures
 * of a deployment are removed with its bundle. Safe to repeat.
 */
export async function removeOldArtifacts(deps: ArtifactDeps & { em: EntityManager }, appId: string): Promise<void> {
  const em = deps.em.fork();
  const app = await em.findOne(App, { id: appId });
  if (app === null) return;
  const deployments = await em.find(Deployment, { appId }, { orderBy: { number: "desc" } });
  const inUse = deployments.filter(
    ({ id, status }) => id === app.liveDeploymentId || (IN_PROGRESS as readonly string[]).includes(status),
  );
  const targets = new Set(inUse.map(({ rollbackToId }) => rollbackToId));
  const kept = new Set(inUse.map(({ artifactKey, number }) => artifactKey ?? String(number)));
  for (const { id, artifactKey } of deployments)
    if (artifactKey && (targets.has(id) || kept.size < KEPT_ARTIFACTS)) kept.add(artifactKey);
  for (const deployment of deployments) {
    if (!deployment.artifactKey || kept.has(deployment.artifactKey)) continue;
    await em.transactional(async (tx) => {
      await tx.nativeUpdate(Deployment, { id: deployment.id }, { artifactKey: null });
      await removeProcedures(tx, { deploymentId: deployment.id });
    });
  }
  const bucket = artifactBucketName(appId);
  for (const { key } of await deps.objects.list(bucket))
    if (!kept.has(key.slice(0, key.indexOf("/")))) await deps.objects.remove(bucket, key);
}

async function removeArtifact(objects: ObjectStore, bucket: string, key: string): Promise<void> {
  for (const object of await objects.list(bucket))
    if (object.key.startsWith(`${key}/`)) await objects.remove(bucket, object.key);
}

async function readDescription(objects: ObjectStore, bucket: string, key: string): Promise<Description | null> {
  const body = await objects.get(bucket, `${key}/${DESCRIPTION}`);
  return body === null ? null : (JSON.parse(new TextDecoder().decode(body)) as Description);
}
