import { type EntityManager, LockMode } from "@mikro-orm/core";
import { artifactBucketName } from "../apps/app-resources.ts";
import { IN_PROGRESS } from "../apps/app-status.ts";
import { App } from "../apps/app.entity.ts";
import {
  type AppCode,
  type AssetRules,
  type Bundle,
  describeServer,
  type Migration,
  type NodeServer,
  type ServerDescription,
} from "../ports/bundler.ts";
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

/** The folder of the layers of Node servers, which the bundles of an app share. */
const LAYERS = "layers";
/** In bytes. A layer is stored in parts, because an object is in memory as a whole. */
const PART_BYTES = 8 * 1024 * 1024;
/** Written last: a layer without it is incomplete. It contains the number of parts. */
const PART_COUNT = "count";

interface Description {
  framework: string | null;
  /** Absent for a Worker. */
  server?: ServerDescription;
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
  if (bundle.code.runtime === "worker")
    await objects.put(bucket, `${key}/${SCRIPT}`, await workspace.readFile(bundle.code.scriptPath));
  else await storeLayers({ objects }, bucket, bundle.code.server, { workspace, signal });
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
  const server = bundle.code.runtime === "node" && { server: describeServer(bundle.code.server) };
  const description: Description = { framework, assets, migrations, ...server };
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
  if (description === null) return null;
  const { framework, migrations } = description;
  const folder = `artifact-${key}`;
  const code = await loadCode({ objects }, { bucket, key, server: description.server }, { workspace, folder, signal });
  if (code === null) return null;
  if (description.assets === null) return { code, assets: null, framework, migrations, warnings: [] };
  const { rules, paths } = description.assets;
  const directory = await workspace.createOutputFolder(`${folder}/${ASSETS}`);
  for (const [index, path] of paths.entries()) {
    signal.throwIfAborted();
    const body = await objects.get(bucket, `${key}/${ASSETS}/${index}`);
    if (body === null) return null;
    await workspace.writeOutput(`${folder}/${ASSETS}/${path}`, body);
  }
  return { code, assets: { directory, rules }, framework, migrations, warnings: [] };
}

/** Stores the layers of a server that are not stored yet. */
async function storeLayers(
  { objects }: ArtifactDeps,
  bucket: string,
  { layers }: NodeServer,
  { workspace, signal }: { workspace: Workspace; signal: AbortSignal },
): Promise<void> {
  for (const { digest, path } of layers) {
    const folder = `${LAYERS}/${digest}`;
    if ((await objects.get(bucket, `${folder}/${PART_COUNT}`)) !== null) continue;
    let count = 0;
    for await (const part of workspace.readFileInParts(path, PART_BYTES)) {
      signal.throwIfAborted();
      await objects.put(bucket, `${folder}/${count}`, part);
      count += 1;
    }
    await objects.put(bucket, `${folder}/${PART_COUNT}`, new TextEncoder().encode(String(count)));
  }
}

/** Copies the script or the layers of a stored bundle to a folder of the workspace; `null` if a part of it is missing. */
async function loadCode(
  { objects }: ArtifactDeps,
  { bucket, key, server }: { bucket: string; key: string; server: Description["server"] },
  { workspace, folder, signal }: { workspace: Workspace; folder: string; signal: AbortSignal },
): Promise<AppCode | null> {
  if (server === undefined) {
    const script = await objects.get(bucket, `${key}/${SCRIPT}`);
    if (script === null) return null;
    return { runtime: "worker", scriptPath: await workspace.writeOutput(`${folder}/${SCRIPT}`, script) };
  }
  const layers = [];
  for (const { digest } of server.layers) {
    const stored = `${LAYERS}/${digest}`;
    const count = await objects.get(bucket, `${stored}/${PART_COUNT}`);
    if (count === null) return null;
    const parts = readParts({ objects }, bucket, { stored, count: Number(new TextDecoder().decode(count)), signal });
    layers.push({ digest, path: await workspace.writeOutput(`${folder}/${digest}`, parts) });
  }
  return { runtime: "node", server: { ...server, layers } };
}

async function* readParts(
  { objects }: ArtifactDeps,
  bucket: string,
  { stored, count, signal }: { stored: string; count: number; signal: AbortSignal },
): AsyncIterable<Uint8Array> {
  for (let index = 0; index < count; index++) {
    signal.throwIfAborted();
    const part = await objects.get(bucket, `${stored}/${index}`);
    if (part === null) throw new Error(`Part ${index} of ${stored} in ${bucket} is missing`);
    yield part;
  }
}

/** What is known of the SQL database that a stored bundle uses; `null` when the bundle is not kept any more. */
export async function readDatabaseUse(
  { objects }: ArtifactDeps,
  { appId, key }: { appId: string; key: string | null },
): Promise<{ migrationNames: string[]; usesPostgres: boolean } | null> {
  const description = key === null ? null : await readDescription(objects, artifactBucketName(appId), key);
  if (description === null) return null;
  const { migrations, server } = description;
  return { migrationNames: migrations.map(({ name }) => name), usesPostgres: server?.postgres !== undefined };
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
  const { isKept, isInProgress } = await inTransaction(deps.em, (em) => removeKeys(em, appId));
  const [layers, files] = [objects.filter(({ key }) => isLayer(key)), objects.filter(({ key }) => !isLayer(key))];
  for (const { key } of files) if (!isKept(artifactOf(key))) await deps.objects.remove(bucket, key);
  // A deployment in progress may use any layer.
  if (isInProgress || layers.length === 0) return;
  const kept = new Set(files.map(({ key }) => artifactOf(key)).filter(isKept));
  await removeOldLayers(deps, bucket, { layers: layers.map(({ key }) => key), kept });
}

function isLayer(objectKey: string): boolean {
  return artifactOf(objectKey) === LAYERS;
}

function artifactOf(objectKey: string): string {
  return objectKey.slice(0, objectKey.indexOf("/"));
}

/** Removes the layers that no kept bundle uses. */
async function removeOldLayers(
  { objects }: ArtifactDeps,
  bucket: string,
  { layers, kept }: { layers: readonly string[]; kept: ReadonlySet<string> },
): Promise<void> {
  const descriptions = await Promise.all([...kept].map((key) => readDescription(objects, bucket, key)));
  const used = new Set(descriptions.flatMap((each) => each?.server?.layers ?? []).map(({ digest }) => digest));
  const unused = layers.filter((key) => !used.has(key.split("/")[1] ?? ""));
  // Their count first, so that an interrupted removal leaves an incomplete layer.
  const isCount = (key: string) => key.endsWith(`/${PART_COUNT}`);
  for (const key of [...unused.filter(isCount), ...unused.filter((each) => !isCount(each))])
    await objects.remove(bucket, key);
}

/**
 * Removes the keys of bundles that are not kept from their deployments. The app is locked, as it is while a rollback
 * chooses its target and a promotion its source, so none of them begins with a bundle that is being removed.
 *
 * @returns whether the bundle with a key is kept, and whether a deployment of the app is in progress
 */
async function removeKeys(
  em: EntityManager,
  appId: string,
): Promise<{ isKept: (key: string) => boolean; isInProgress: boolean }> {
  const app = await em.findOne(App, { id: appId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  const inProgress = await em.find(Deployment, { appId, status: { $in: [...IN_PROGRESS] } });
  const built = await em.find(Deployment, { appId, artifactKey: { $ne: null } }, { orderBy: { number: "desc" } });
  const live = built.filter(({ id }) => id === app?.liveDeploymentId);
  const targets = built.filter(({ id }) => [...inProgress, ...live].some(({ rollbackToId }) => rollbackToId === id));
  const promotions = await em.find(Deployment, {
    promotedFromId: { $in: built.map(({ id }) => id) },
    status: { $in: [...IN_PROGRESS] },
  });
  targets.push(...built.filter(({ id }) => promotions.some(({ promotedFromId }) => promotedFromId === id)));
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
  const isKept = (key: string) => keptKeys.has(key) || numbers.has(key.split(".", 1)[0] ?? "");
  return { isKept, isInProgress: inProgress.length > 0 };
}

async function readDescription(objects: ObjectStore, bucket: string, key: string): Promise<Description | null> {
  const body = await objects.get(bucket, `${key}/${DESCRIPTION}`);
  return body === null ? null : (JSON.parse(new TextDecoder().decode(body)) as Description);
}
