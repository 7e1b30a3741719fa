import { createRequire } from "node:module";
import path from "node:path";
import type { WorkerOptions } from "./worker-options.ts";
import { type CapnpStruct, type CapnpValue, Embedded, VOID } from "./capnp-text.ts";

const require = createRequire(import.meta.url);

/**
 * The folder of the workers by which Miniflare implements bindings, from which workerd imports them. Apps behave the same on one edge
 * and on several.
 */
export const MINIFLARE_WORKERS = path.join(path.dirname(require.resolve("miniflare")), "workers");

/** The code of a module of Miniflare. */
export function embed(file: string): CapnpValue {
  return new Embedded(`/${file}`);
}

/** Where a process keeps durable objects, by what they store. They are folders of Miniflare, as earlier versions used them. */
export interface StorageFolders {
  durableObjects: string;
  sql: string;
  keyValue: string;
  objects: string;
  workflows: string;
}

/** Where they are in the storage of an app. The SQL database has a folder of its own. */
export const STORAGE_FOLDERS = {
  durableObjects: "do",
  keyValue: "kv",
  objects: "r2",
  workflows: "workflows",
} as const satisfies Partial<Record<keyof StorageFolders, string>>;

export interface Storage {
  folders: StorageFolders;
  /** Whether large values are in the bucket of the cluster, or in the folders of their kind. */
  largeValues: "bucket" | "disk";
}

/** The name of the disk service for the durable objects of an app's own classes. */
export const OBJECT_DISK = diskOf("durableObjects");
const NO_NETWORK = "no-network";

/** Of the classes that store the data of the bindings. The ids of objects derive from them, so they must never change. */
export const UNIQUE_KEYS = {
  sql: "miniflare-D1DatabaseObject",
  keyValue: "miniflare-KVNamespaceObject",
  objects: "miniflare-R2BucketObject",
} as const;

/** Begins the key of the class that runs a workflow. */
export const WORKFLOW_PREFIX = "miniflare-workflows-";

/** Below `services/` in the bucket. */
export const BLOB_FOLDERS = { keyValue: "kv", objects: "r2" } as const;

const FLAGS = ["nodejs_compat", "experimental"];
const COMPATIBILITY_DATE = "2023-07-24";

interface SimulatorOptions {
  name: string;
  file: string;
  className: string;
  uniqueKey: string;
  /** Where its objects are; `null` in memory. */
  folder: keyof StorageFolders | null;
  /** The folder for large values in the bucket; `null` if it has none. */
  blobFolder: string | null;
}

/**
 * A ranged read of a large value. The bucket service of workerd reads whole objects only, so what precedes the range is read and
 * skipped.
 */
const RANGED_READS = `
export default {
  async fetch(request, { BUCKET }) {
    const range = request.method === "GET" ? /^bytes=([0-9]+)-([0-9]+)?$/.exec(request.headers.get("range") ?? "") : null;
    const { method, body } = request;
    const response = await BUCKET.fetch(request.url, { method, body });
    if (range === null || !response.ok) return response;
    const [start, end] = [Number(range[1]), range[2] === undefined ? Infinity : Number(range[2])];
    return new Response(slice(response.body, start, end + 1), { status: 206 });
  },
};

function slice(stream, start, end) {
  const reader = stream.getReader();
  let offset = 0;
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      for (;;) {
        const { done, value } = offset < end ? await reader.read() : { done: true };
        if (done) {
          await reader.cancel();
          controller.close();
          return controller.byobRequest?.respond(0);
        }
        const part = value.subarray(Math.max(0, start - offset), Math.max(0, end - offset));
        offset += value.length;
        if (part.length > 0) return controller.enqueue(part);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}`;

/**
 * Passes a request on to a durable object, as Miniflare's worker does. The engine sends a request again to where the object moved,
 * if its body is not a stream. Larger ones are streams: those of values that are written.
 */
const OBJECT_ENTRY = `
const MAX_BUFFERED_BYTES = 1024 * 1024;

export default {
  async fetch(request, { NAME, OBJECTS }) {
    const stub = OBJECTS.get(OBJECTS.idFromName(NAME));
    const cf = { miniflare: { name: NAME } };
    const length = request.headers.get("content-length");
    if (request.body === null || length === null || Number(length) > MAX_BUFFERED_BYTES) return stub.fetch(request, { cf });
    return stub.fetch(new Request(request, { body: await request.arrayBuffer() }), { cf });
  },
};`;

/** The services for the folders that a worker uses. The others need not exist. */
export function diskServices(worker: WorkerOptions, folders: StorageFolders): CapnpStruct[] {
  const { d1Databases, kvNamespaces, r2Buckets, durableObjects, workflows } = worker;
  const used = {
    durableObjects,
    sql: d1Databases,
    keyValue: kvNamespaces,
    objects: r2Buckets,
    workflows,
  } satisfies Record<keyof StorageFolders, Readonly<Record<string, unknown>> | undefined>;
  return Object.entries(folders)
    .filter(([kind]) => hasEntries(used[kind as keyof StorageFolders]))
    .map(([kind, folder]: [string, string]) => ({
      name: diskOf(kind as keyof StorageFolders),
      disk: { path: folder, writable: true },
    }));
}

function diskOf(kind: keyof StorageFolders): string {
  return `disk:${kind}`;
}

/** The services behind the bindings of a worker. */
export function storageServices(worker: WorkerOptions, { largeValues }: Storage): CapnpStruct[] {
  const { d1Databases = {}, kvNamespaces = {}, r2Buckets = {}, ratelimits = {}, workflows = {} } = worker;
  const limits = Object.fromEntries(Object.values(ratelimits).map(({ namespace_id: id }) => [id, id]));
  const names = { d1: d1Databases, kv: kvNamespaces, r2: r2Buckets, ratelimit: limits };
  const services: CapnpStruct[] = [{ name: NO_NETWORK, network: { allow: [] } }];
  for (const kind of ["d1", "kv", "r2", "ratelimit"] as const)
    if (hasEntries(names[kind]))
      services.push(...simulatorServices(SIMULATORS[kind], largeValues), ...entries(kind, names[kind]));
  for (const [binding, workflow] of Object.entries(workflows))
    services.push(workflowService(worker.name, { binding, ...workflow }));
  return services;
}

const SIMULATORS = {
  d1: {
    ...{ name: "d1", file: "d1/database", className: "D1DatabaseObject" },
    ...{ uniqueKey: UNIQUE_KEYS.sql, folder: "sql", blobFolder: null },
  },
  kv: {
    ...{ name: "kv", file: "kv/namespace", className: "KVNamespaceObject" },
    ...{ uniqueKey: UNIQUE_KEYS.keyValue, folder: "keyValue", blobFolder: BLOB_FOLDERS.keyValue },
  },
  r2: {
    ...{ name: "r2", file: "r2/bucket", className: "R2BucketObject" },
    ...{ uniqueKey: UNIQUE_KEYS.objects, folder: "objects", blobFolder: BLOB_FOLDERS.objects },
  },
  // Each process counts for itself, as each location of the production platform does.
  ratelimit: {
    ...{ name: "ratelimit", file: "ratelimit/ratelimit-object", className: "RateLimiterObject" },
    ...{ uniqueKey: "miniflare-RateLimiterObject", folder: null, blobFolder: null },
  },
} as const satisfies Record<string, SimulatorOptions>;

function hasEntries(record: Readonly<Record<string, unknown>> = {}): boolean {
  return Object.keys(record).length > 0;
}

function simulatorServices(options: SimulatorOptions, largeValues: Storage["largeValues"]): CapnpStruct[] {
  const { name, file, className, uniqueKey, folder, blobFolder } = options;
  const disk = folder && diskOf(folder);
  const isInBucket = largeValues === "bucket";
  const blobs = blobFolder && (isInBucket ? `${name}:blobs` : disk);
  return [
    ...(isInBucket && blobFolder !== null ? bucketServices(name, blobFolder) : []),
    {
      name,
      worker: {
        modules: [{ name: "index.js", esModule: embed(`${file}.worker.js`) }],
        compatibilityDate: COMPATIBILITY_DATE,
        compatibilityFlags: FLAGS,
        bindings: [
          ...(blobs === null ? [] : [{ name: "MINIFLARE_BLOBS", service: blobs }]),
          { name: "MINIFLARE_LOOPBACK", service: NO_NETWORK },
        ],
        durableObjectNamespaces: [{ className, uniqueKey, enableSql: true }],
        durableObjectStorage: disk === null ? { inMemory: VOID } : { localDisk: disk },
      },
    },
  ];
}

function bucketServices(name: string, folder: string): CapnpStruct[] {
  const module = { name: "index.js", esModule: RANGED_READS };
  const bindings = [{ name: "BUCKET", service: `${name}:bucket` }];
  return [
    { name: `${name}:bucket`, bucket: { path: folder } },
    { name: `${name}:blobs`, worker: { modules: [module], compatibilityDate: "2026-07-01", bindings } },
  ];
}

/** One service for each database, namespace or bucket. It passes requests on to the durable object with its name. */
function entries(kind: keyof typeof SIMULATORS, names: Readonly<Record<string, string>>): CapnpStruct[] {
  return [...new Set(Object.values(names))].map((name) => ({
    name: `${kind}:${name}`,
    worker: {
      modules: [{ name: "index.js", esModule: OBJECT_ENTRY }],
      compatibilityDate: COMPATIBILITY_DATE,
      bindings: [
        { name: "NAME", text: name },
        { name: "OBJECTS", durableObjectNamespace: { className: SIMULATORS[kind].className, serviceName: kind } },
      ],
    },
  }));
}

function workflowService(
  app: string,
  { binding, name, className }: { binding: string; name: string; className: string },
): CapnpStruct {
  const engine = {
    className: "Engine",
    uniqueKey: `${WORKFLOW_PREFIX}${name}`,
    preventEviction: true,
    enableSql: true,
  };
  return {
    name: `workflows:${name}`,
    worker: {
      modules: [{ name: "index.js", esModule: embed("workflows/binding.worker.js") }],
      compatibilityDate: "2024-10-22",
      compatibilityFlags: ["experimental"],
      bindings: [
        { name: "ENGINE", durableObjectNamespace: { className: "Engine" } },
        { name: "USER_WORKFLOW", service: { name: serviceOf(app), entrypoint: className } },
        { name: "BINDING_NAME", json: JSON.stringify(binding) },
        { name: "WORKFLOW_NAME", json: JSON.stringify(name) },
      ],
      durableObjectNamespaces: [engine],
      durableObjectStorage: { localDisk: diskOf("workflows") },
    },
  };
}

/** The modules that the workers of Miniflare, and the wrapped bindings of an app, import. */
export function sharedModules(): CapnpStruct[] {
  const internal = (name: string, file: string) => ({ name, esModule: embed(file), internal: true });
  return [
    { name: "miniflare:shared", esModule: embed("shared/index.worker.js") },
    { name: "miniflare:zod", esModule: embed("shared/zod.worker.js") },
    internal("analytics-engine:local-simulator", "analytics-engine/analytics-engine.worker.js"),
    internal("ratelimit:limiter", "ratelimit/ratelimit.worker.js"),
    internal("workflows:local-wrapped-binding", "workflows/wrapped-binding.worker.js"),
  ];
}

/** The name of the service of a worker. Messages of workerd contain it, as with Miniflare. */
export function serviceOf(worker: string): string {
  return `core:user:${worker}`;
}
