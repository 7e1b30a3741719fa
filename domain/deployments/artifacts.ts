import { type EntityManager, LockMode } from "@mikro-orm/core";
import { artifactBucketName } from "../apps/app-resources.ts";
import { IN_PROGRESS } from "../apps/app-status.ts";
import { App } from "../apps/app.entity.ts";
import type { AssetRules, Bundle, Migration } from "../ports/bundler.ts";
import type { ObjectStore } from "../ports/object-store.ts";
import type { Workspace } from "../ports/temporary-workspaces.ts";
import { removeProcedures } from "../procedures/replace-procedures.ts";
import { inTransaction } from "../shared/transaction.ts";
import { Deployment } from "./deployment.entity.ts";

/** How many bundles of an app are kept, with the live one. */
const KEPT_ARTIFACTS = 5;

/** How many deployments of an app a rollback can choose from. Several of them may share one bundle. */
const ROLLBACK_TARGETS = 20;

const SCRIPT = "script.form";
const ASSETS = "assets";
/** Written last: an artifact without it is incomplete. */
const DESCRIPTION = "bundle.json";

interface Description {
  framework: string | null;
  /**
   * `null` if the app has no static files. The file at `paths[n]` is the object `assets/<n>`, because a build can create
   * paths that are too long for keys.
   */
  assets: { rules: AssetRules; paths: string[] } | null;
  migrations: Migration[];
}

interface ArtifactDeps {
  objects: ObjectStore;
}

/**
 * Stores the bundle of a deployment, so that a rollback needs no build. Returns its key. Every attempt has its own key, so
 * a worker that lost its lease cannot change the artifact of a later one.
 */
export async function storeArtifact(
  { objects }: ArtifactDeps,
  { appId, number, fencingToken }: { appId: string; number: number; fencingToken: number },
  { bundle, workspace, signal }: { bundle: Bundle; workspace: Workspace; signal: AbortSignal },
): Promise<string> {
  const bucket = artifactBucketName(appId);
  const key = `${number}.${fencingToken}`;
  await objects.put(bucket, `${key}/${SCRIPT}`, await workspace.readFile(bundle.scriptPath));
  const paths: string[] = [];
  if (bundle.assets !== null) {
    for await (const file of workspace.filesIn(bundle.assets.directory)) {
      signal.throwIfAborted();
      await objects.put(bucket, `${key}/${ASSETS}/${paths.length}`, await file.read());
      paths.push(file.path);
    }
  }
  const { framework, migrations } = bundle;
  const assets = bundle.assets && { rules: bundle.assets.rules, paths };
  const description: Description = { framework, assets, migrations };
  await objects.put(bucket, `${key}/${DESCRIPTION}`, new TextEncoder().encode(JSON.stringify(description)));
  return key;
}

/** Copies a stored bundle to its own folder in a workspace. Returns `null` when it is not kept any more. */
export async function loadArtifact(
  { objects }: ArtifactDeps,
  { appId, key }: { appId: string; key: string },
  { workspace, signal }: { workspace: Workspace; signal: AbortSignal },
): Promise<Bundle | null> {
  const bucket = artifactBucketName(appId);
  const description = await readDescription(objects, bucket, key);
  const script = await objects.get(bucket, `${key}/${SCRIPT}`);
  if (description === null || script === null) return null;
  const { framework, migrations, assets } = description;
  const folder = `artifact-${key}`;
  const scriptPath = await workspace.writeOutput(`${folder}/${SCRIPT}`, script);
  if (assets === null) return { scriptPath, assets, framework, migrations, warnings: [] };
  const directory = await workspace.createOutputFolder(`${folder}/${ASSETS}`);
  for (const [index, path] of assets.paths.entries()) {
    signal.throwIfAborted();
    const body = await objects.get(bucket, `${key}/${ASSETS}/${index}`);
    if (body === null) return null;
    await workspace.writeOutput(`${folder}/${ASSETS}/${path}`, body);
  }
  return { scriptPath, assets: { directory, rules: assets.rules }, framework, migrations, warnings: [] };
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
  const bucket = artifactBucketName(appId);
  // List the objects before reading the records. A deployment is recorded before its objects are stored, so no listed
  // object belongs to a deployment that is created afterwards.
  const objects = await deps.objects.list(bucket);
  const isKept = await inTransaction(deps.em, (em) => removeKeys(em, appId));
  for (const { key } of objects) if (!isKept(key.slice(0, key.indexOf("/")))) await deps.objects.remove(bucket, key);
}

/**
 * Removes the keys of bundles that are not kept from their deployments. The app is locked, as it is while a rollback
 * chooses its target, so no rollback begins with a bundle that is being removed.
 *
 * @returns whether the bundle with a key is kept
 */
async function removeKeys(em: EntityManager, appId: string): Promise<(key: string) => boolean> {
  const app = await em.findOne(App, { id: appId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const inProgress = await em.find(Deployment, { appId, status: { $in: [...IN_PROGRESS] } });
  const built = await em.find(Deployment, { appId, artifactKey: { $ne: null } }, { orderBy: { number: "desc" } });
  const live = built.filter(({ id }) => id === app?.liveDeploymentId);
  const targets = built.filter(({ id }) => [...inProgress, ...live].some(({ rollbackToId }) => rollbackToId === id));
  const keys = new Set(live.map(({ artifactKey }) => artifactKey));
  for (const { artifactKey } of built.slice(0, ROLLBACK_TARGETS)) if (keys.size < KEPT_ARTIFACTS) keys.add(artifactKey);
  const newest = built.slice(0, ROLLBACK_TARGETS).filter(({ artifactKey }) => keys.has(artifactKey));
  const kept = new Set([...live, ...targets, ...newest]);
  for (const deployment of built) {
    if (kept.has(deployment)) continue;
    deployment.artifactKey = null;
    await removeProcedures(em, { deploymentId: deployment.id });
  }
  const keptKeys = new Set([...kept].map(({ artifactKey }) => artifactKey));
  const numbers = new Set(inProgress.map(({ number }) => String(number)));
  return (key) => keptKeys.has(key) || numbers.has(key.split(".", 1)[0] ?? "");
}

async function readDescription(objects: ObjectStore, bucket: string, key: string): Promise<Description | null> {
  const body = await objects.get(bucket, `${key}/${DESCRIPTION}`);
  return body === null ? null : (JSON.parse(new TextDecoder().decode(body)) as Description);
}
