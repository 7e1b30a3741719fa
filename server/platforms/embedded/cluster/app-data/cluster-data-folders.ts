import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import type { AppDataLocation } from "../../../../../domain/ports/app-data.ts";
import { ServiceError } from "../../../../../domain/shared/errors.ts";
import { nullIfMissing } from "../../../../files/missing-file.ts";
import type { ScriptVersion } from "../../script-version.ts";
import type { AppDataFolders, DataFolders, ReplacingFolders } from "../../storage/data-folders.ts";
import { isObjectOf, objectId, readDeclaredStores } from "../../storage/embedded-app-entries.ts";
import { declaredClasses } from "../../../shared/worker-bindings.ts";
import { readUploadForm } from "../../../shared/upload-form.ts";
import { WORKER_NAME } from "../../workerd/worker-options.ts";
import { STORAGE_FOLDERS, UNIQUE_KEYS, WORKFLOW_PREFIX } from "../../workerd/storage-services.ts";
import type { WorkerLauncher } from "../../workerd/workerd-launcher.ts";
import type { ServerLeases } from "../server-leases/server-leases.ts";
import type { SharedBucket } from "../shared-bucket.ts";
import { listStoredObjects } from "../stored-data.ts";
import { copySqlDatabase } from "./copy-sql-database.ts";
import { copyStores } from "./copy-stores.ts";
import { DataError, DataWorker, type OpenedStores } from "./data-worker.ts";
import { RestorationFence } from "./restoration-fence.ts";

interface ClusterDataFoldersOptions {
  bucket: SharedBucket;
  /** Starts members of the clusters of apps. */
  launcher: WorkerLauncher;
  /** Starts workerd with folders of this machine. */
  localLauncher: WorkerLauncher;
  leases: ServerLeases;
}

const OLD_DATA =
  "The edge that runs the app did not save /data for the export. The export has /data as it was saved before, which may be some minutes old.";

const LOCAL_FILES = "Several edges run the app, and each has files of its own in /data. They are left out.";
const NOTHING = {
  ...{ storage: null, database: null, serverData: null },
  [Symbol.asyncDispose]: async () => undefined,
};

/** Copies the data of apps between the bucket and folders of this machine. A workerd in the sandbox has each side open. */
export class ClusterDataFolders implements AppDataFolders {
  readonly #options: ClusterDataFoldersOptions;

  constructor(options: ClusterDataFoldersOptions) {
    this.#options = options;
  }

  open(version: ScriptVersion, workFolder: string, signal: AbortSignal): Promise<DataFolders> {
    return version.code.runtime === "node"
      ? this.#openServer(version, signal)
      : this.#openWorker(version, workFolder, signal);
  }

  async replace(app: AppDataLocation, folders: ReplacingFolders, signal: AbortSignal): Promise<string[]> {
    const { bucket, launcher, localLauncher, leases } = this.#options;
    const unsaved = await leases.replaceData(app, path.join(folders.storage, "data"), signal);
    const stores = await findStores(app, folders);
    if (isEmpty(stores)) return [...unsaved, ...(await findLosses(folders.storage))];
    await using fence = await RestorationFence.open(bucket, app.databaseId, signal);
    const local = { storageDirectory: folders.storage, databaseDirectory: folders.database };
    const warnings = await this.#copy(stores, {
      from: () => DataWorker.start(localLauncher, stores, local, signal),
      to: () => DataWorker.start(launcher, stores, { ...NO_FOLDERS, databaseId: app.databaseId }, signal),
      isShared: false,
      checkpoint: () => fence.check(),
    });
    return [...unsaved, ...(await findLosses(folders.storage)), ...warnings];
  }

  async #openServer(version: ScriptVersion, signal: AbortSignal): Promise<DataFolders> {
    if (version.code.runtime === "node" && version.code.server.postgres !== undefined)
      return { ...NOTHING, warnings: [LOCAL_FILES] };
    const isNew = await this.#options.leases.save(version, signal);
    const data = await this.#options.leases.openData(version, signal);
    return {
      ...{ storage: null, database: null, serverData: data.folder, warnings: isNew ? [] : [OLD_DATA] },
      [Symbol.asyncDispose]: () => data[Symbol.asyncDispose](),
    };
  }

  async #openWorker(version: ScriptVersion, workFolder: string, signal: AbortSignal): Promise<DataFolders> {
    const { bucket, launcher, localLauncher } = this.#options;
    const { databaseId } = version;
    const declared = await readDeclaredStores(version);
    const stored = await listStoredObjects(bucket, databaseId);
    const namesOf = (kind: "key_value" | "objects") => [
      ...new Set(declared.filter((store) => store.kind === kind).map(({ storageName }) => storageName)),
    ];
    const stores: OpenedStores = {
      ...(stored.has(objectId(UNIQUE_KEYS.sql, databaseId)) && { databaseId }),
      keyValue: namesOf("key_value").filter((name) => stored.has(objectId(UNIQUE_KEYS.keyValue, name))),
      objects: namesOf("objects").filter((name) => stored.has(objectId(UNIQUE_KEYS.objects, name))),
    };
    const folders = { storage: path.join(workFolder, "storage"), database: path.join(workFolder, "database") };
    for (const folder of Object.values(folders)) await mkdir(folder, { mode: 0o700 });
    const local = { storageDirectory: folders.storage, databaseDirectory: folders.database };
    const warnings = isEmpty(stores)
      ? []
      : await this.#copy(stores, {
          from: () => DataWorker.start(launcher, stores, { ...NO_FOLDERS, databaseId }, signal),
          to: () => DataWorker.start(localLauncher, stores, local, signal),
          isShared: true,
          checkpoint: async () => signal.throwIfAborted(),
        });
    return {
      ...folders,
      serverData: null,
      warnings: [...(await describeLeftOut(version, stored, stores)), ...warnings],
      [Symbol.asyncDispose]: async () => undefined,
    };
  }

  async #copy(stores: OpenedStores, { from: openFrom, to: openTo, ...options }: CopyPlan): Promise<string[]> {
    await using from = await openFrom();
    await using to = await openTo();
    try {
      const warnings = stores.databaseId === undefined ? [] : await copySqlDatabase({ from, to, ...options });
      return [...warnings, ...(await copyStores({ from, to, stores, ...options }))];
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      throw new ServiceError("conflict", `The data could not be copied: ${error.message}`, { cause: error });
    }
  }
}

interface CopyPlan {
  from: () => Promise<DataWorker>;
  to: () => Promise<DataWorker>;
  isShared: boolean;
  checkpoint: () => Promise<void>;
}

const NO_FOLDERS = { storageDirectory: null, databaseDirectory: null };

function isEmpty({ databaseId, keyValue, objects }: OpenedStores): boolean {
  return databaseId === undefined && keyValue.length === 0 && objects.length === 0;
}

/** The names that `worker-bindings.ts` gives to stores. */
const STORE_NAME = /^[0-9a-f]{32}$/;

/** The stores that folders have. */
async function findStores(
  { databaseId }: AppDataLocation,
  { storage, database }: ReplacingFolders,
): Promise<OpenedStores> {
  const find = async (folder: string, className: string) => {
    const files = new Set(await namesIn(path.join(storage, folder, className)));
    const names = await namesIn(path.join(storage, folder));
    return names.filter((name) => STORE_NAME.test(name) && files.has(`${objectId(className, name)}.sqlite`));
  };
  const files = await namesIn(path.join(database, UNIQUE_KEYS.sql));
  return {
    ...(files.includes(`${objectId(UNIQUE_KEYS.sql, databaseId)}.sqlite`) && { databaseId }),
    keyValue: await find(STORAGE_FOLDERS.keyValue, UNIQUE_KEYS.keyValue),
    objects: await find(STORAGE_FOLDERS.objects, UNIQUE_KEYS.objects),
  };
}

async function namesIn(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(nullIfMissing)) ?? [];
}

/** The keys of classes contain the name of the worker, and so do their folders. */
const CLASS_PREFIX = `${WORKER_NAME}-`;

async function findLosses(storage: string): Promise<string[]> {
  const classes = await classesIn(path.join(storage, STORAGE_FOLDERS.durableObjects));
  const workflows = await classesIn(path.join(storage, STORAGE_FOLDERS.workflows));
  return describeLosses(
    classes.filter((name) => name.startsWith(CLASS_PREFIX)).map((name) => name.slice(CLASS_PREFIX.length)),
    workflows.length > 0,
  );
}

/** The folders of classes with objects. A class has a folder before it has an object. */
async function classesIn(folder: string): Promise<string[]> {
  const classes: string[] = [];
  for (const name of await namesIn(folder))
    if ((await namesIn(path.join(folder, name))).some((file) => OBJECT_FILE.test(file))) classes.push(name);
  return classes;
}

const OBJECT_FILE = /^[0-9a-f]{64}[.]sqlite$/;

function describeLosses(classes: readonly string[], hasWorkflows: boolean): string[] {
  const objects = `The durable objects of the app cannot be moved between one edge and several. They are left out: ${classes.join(", ")}.`;
  const runs = "The runs of workflows cannot be moved between one edge and several. They are left out.";
  return [...(classes.length > 0 ? [objects] : []), ...(hasWorkflows ? [runs] : [])];
}

/** @param stored - the ids of all stored objects */
async function describeLeftOut(
  { code }: ScriptVersion,
  stored: ReadonlySet<string>,
  { databaseId, keyValue, objects }: OpenedStores,
): Promise<string[]> {
  const bindings = code.runtime === "worker" ? (await readUploadForm(code.formPath)).metadata.bindings : [];
  const { classes, workflows } = declaredClasses(bindings);
  const rest = new Set(stored);
  if (databaseId !== undefined) rest.delete(objectId(UNIQUE_KEYS.sql, databaseId));
  for (const name of keyValue) rest.delete(objectId(UNIQUE_KEYS.keyValue, name));
  for (const name of objects) rest.delete(objectId(UNIQUE_KEYS.objects, name));
  const removeObjects = (key: string): boolean => {
    const found = [...rest].filter((id) => isObjectOf(key, id));
    for (const id of found) rest.delete(id);
    return found.length > 0;
  };
  const kept = classes.filter((name) => removeObjects(`${CLASS_PREFIX}${name}`));
  const hasWorkflows = workflows.map((name) => removeObjects(`${WORKFLOW_PREFIX}${name}`)).includes(true);
  const undeclared = rest.size === 0 ? [] : [UNDECLARED];
  return [...describeLosses(kept, hasWorkflows), ...undeclared];
}

const UNDECLARED = "Namespaces, buckets and durable objects that the live version does not declare are left out.";
