import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { nullIfMissing } from "../../../files/missing-file.ts";
import type { WorkerOptions } from "./worker-options.ts";
import { type CapnpStruct, type CapnpValue, Embedded, toCapnp, VOID } from "./capnp-text.ts";
import {
  diskServices,
  embed,
  OBJECT_DISK,
  serviceOf,
  sharedModules,
  type Storage,
  storageServices,
} from "./storage-services.ts";

/** The membership of a process in the cluster of its app. */
export interface ClusterMembership {
  /** `s3://bucket/prefix` as the forwarder has it. */
  bucket: string;
  endpoint: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Proves to the other processes of the app that this one belongs to it: 64 hex digits. */
  key: string;
  /** Where the process listens for the others: a private address of this machine. */
  host: string;
  /** For tests: divides the times of the lease. */
  timeDivisor?: number | undefined;
}

export interface WorkerdConfigOptions {
  /** The app first. */
  workers: readonly WorkerOptions[];
  storage: Storage;
  /** Absent for the only process that has the data of the app. */
  cluster?: ClusterMembership | undefined;
}

/** A configuration of workerd. The files belong into an import folder. */
export interface WorkerdConfig {
  text: string;
  /** The contents of the files, whose names are their indexes. */
  files: readonly (string | Uint8Array)[];
}

/** The name of the socket on which the app listens. */
export const SOCKET = "http";
/** The name of the configuration in its text. */
export const CONFIG_NAME = "config";
/** The heap of one isolate, as on the production platform. */
const HEAP_MB = 128;
const MODULE_FIELDS = {
  ESModule: "esModule",
  CommonJS: "commonJsModule",
  Text: "text",
  Data: "data",
  CompiledWasm: "wasm",
} as const;

/**
 * Writes the configuration of a process that runs an app: what Miniflare would write, without its entry worker. As a member of a
 * cluster, it has durable objects that any member can serve, because the bucket has them.
 */
export async function workerdConfig({ workers, storage, cluster }: WorkerdConfigOptions): Promise<WorkerdConfig> {
  const files: (string | Uint8Array)[] = [];
  const add = (contents: string | Uint8Array): Embedded => new Embedded(`/${files.push(contents) - 1}`);
  const [app] = workers;
  if (app === undefined) throw new TypeError("A process needs a worker");
  const services = diskServices(app, storage.folders);
  for (const worker of workers) services.push(...workerServices(worker, add));
  services.push(...storageServices(app, storage));
  if (app.assets !== undefined) services.push(await assetsService(app, app.assets));
  const config: CapnpStruct = {
    v8Flags: [`--max-old-space-size=${HEAP_MB}`],
    services,
    extensions: [{ modules: sharedModules() }],
    sockets: [
      {
        name: SOCKET,
        address: "127.0.0.1:0",
        http: {},
        service: app.assets === undefined ? serviceOf(app.name) : ASSETS_SERVICE,
      },
    ],
    structuredLogging: true,
    cluster: cluster && membership(cluster),
  };
  return {
    text: `using Workerd = import "/workerd/workerd.capnp";\nconst ${CONFIG_NAME} :Workerd.Config = ${toCapnp(config)};\n`,
    files,
  };
}

function membership({
  bucket,
  endpoint,
  accessKeyId,
  secretAccessKey,
  key,
  host,
  timeDivisor,
}: ClusterMembership): CapnpStruct {
  const isIpv6 = host.includes(":");
  return {
    bucket,
    bucketOptions: [
      `aws_endpoint=${endpoint}`,
      "aws_region=auto",
      `aws_access_key_id=${accessKeyId}`,
      `aws_secret_access_key=${secretAccessKey}`,
    ],
    address: `${isIpv6 ? `[${host}]` : host}:0`,
    key,
    unsafeTimeDivisor: timeDivisor,
  };
}

type Add = (contents: string | Uint8Array) => Embedded;

function workerServices(worker: WorkerOptions, add: Add): CapnpStruct[] {
  const { name, compatibilityDate, compatibilityFlags, outboundService, durableObjects = {}, streamingTails } = worker;
  const { allow, tlsOptions } = outboundService.network;
  const classes = [...new Set(Object.values(durableObjects).map(({ className }) => className))];
  const kept = new Set(
    Object.values(durableObjects).flatMap((each) => (each.unsafePreventEviction ? [each.className] : [])),
  );
  return [
    { name: `${name}:outbound`, network: { allow, tlsOptions: tlsOptions && { ...tlsOptions } } },
    { name: `${name}:cache`, worker: cacheWorker() },
    {
      name: serviceOf(name),
      worker: {
        ...code(worker, add),
        compatibilityDate,
        compatibilityFlags,
        bindings: bindings(worker, add),
        globalOutbound: `${name}:outbound`,
        cacheApiOutbound: `${name}:cache`,
        durableObjectNamespaces: classes.map((className) => ({
          className,
          // Contains the name of the worker, as Miniflare's do.
          uniqueKey: `${name}-${className}`,
          enableSql: true,
          preventEviction: kept.has(className),
        })),
        durableObjectStorage: classes.length === 0 ? undefined : { localDisk: OBJECT_DISK },
        streamingTails: streamingTails?.map((tail) => serviceOf(tail)),
      },
    },
  ];
}

/** The production platform has no cache for scripts like these. */
function cacheWorker(): CapnpStruct {
  return {
    modules: [{ name: "index.js", esModule: embed("cache/cache-entry-noop.worker.js") }],
    compatibilityDate: "2023-07-24",
    compatibilityFlags: ["nodejs_compat", "experimental"],
  };
}

function code({ script, modules = [] }: WorkerOptions, add: Add): CapnpStruct {
  if (script !== undefined) return { serviceWorkerScript: add(script) };
  return {
    modules: modules.map(({ type, path: file, contents }) => ({
      name: file.replace(/^\//, ""),
      [MODULE_FIELDS[type]]: add(contents),
    })),
  };
}

function bindings(worker: WorkerOptions, add: Add): CapnpStruct[] {
  const { d1Databases, kvNamespaces, r2Buckets, durableObjects, workflows, ratelimits, versionMetadata } = worker;
  const each = <T>(record: Readonly<Record<string, T>> | undefined, bind: (value: T) => CapnpStruct): CapnpStruct[] =>
    Object.entries(record ?? {}).map(([name, value]) => ({ name, ...bind(value) }));
  const wrapped = (moduleName: string, innerBindings: CapnpValue): CapnpStruct => ({
    wrapped: { moduleName, innerBindings },
  });
  return [
    ...each(worker.bindings, (value) =>
      typeof value === "string" ? { text: value } : { json: JSON.stringify(value) },
    ),
    ...each(worker.wasmBindings, (contents) => ({ wasmModule: add(contents) })),
    ...each(worker.dataBlobBindings, (contents) => ({ data: add(contents) })),
    ...each(d1Databases, (id) => wrapped("cloudflare-internal:d1-api", [{ name: "fetcher", service: `d1:${id}` }])),
    ...each(kvNamespaces, (id) => ({ kvNamespace: `kv:${id}` })),
    ...each(r2Buckets, (id) => ({ r2Bucket: `r2:${id}` })),
    ...each(durableObjects, ({ className }) => ({ durableObjectNamespace: className })),
    ...each(workflows, ({ name }) =>
      wrapped("workflows:local-wrapped-binding", [
        { name: "binding", service: { name: `workflows:${name}`, entrypoint: "WorkflowBinding" } },
      ]),
    ),
    ...each(ratelimits, ({ namespace_id: id, simple: { limit, period } }) =>
      wrapped("ratelimit:limiter", [
        { name: "fetcher", service: `ratelimit:${id}` },
        { name: "limit", json: String(limit) },
        { name: "period", json: String(period) },
      ]),
    ),
    ...each(worker.analyticsEngineDatasets, ({ dataset }) =>
      wrapped("analytics-engine:local-simulator", [{ name: "dataset", json: JSON.stringify(dataset) }]),
    ),
    ...optional(versionMetadata, (name) => ({ name, json: JSON.stringify(newVersion()) })),
    ...optional(worker.unsafeEvalBinding, (name) => ({ name, unsafeEval: VOID })),
    ...optional(worker.assets?.binding, (name) => ({
      name,
      service: { name: ASSETS_SERVICE, entrypoint: "AssetWorker" },
    })),
  ];
}

function optional<T>(value: T | undefined, bind: (value: T) => CapnpStruct): CapnpStruct[] {
  return value === undefined ? [] : [bind(value)];
}

function newVersion(): { id: string; tag: string; timestamp: string } {
  return { id: randomUUID(), tag: "", timestamp: new Date().toISOString() };
}

const ASSETS_SERVICE = "assets";

/** workerd serves static files itself, by the rules of the production platform. */
async function assetsService(
  app: WorkerOptions,
  { directory, routerConfig, assetConfig }: NonNullable<WorkerOptions["assets"]>,
): Promise<CapnpStruct> {
  const read = async (file: string) =>
    (await readFile(path.join(directory, file), "utf8").catch(nullIfMissing)) ?? undefined;
  const { static_routing: routes } = routerConfig;
  const first = routes
    ? [...routes.user_worker, ...routes.asset_worker.map((rule) => `!${rule}`)]
    : (routerConfig.invoke_user_worker_ahead_of_assets ?? false);
  const config = {
    ...assetConfig,
    run_worker_first: first,
    headers: await read("_headers"),
    redirects: await read("_redirects"),
    ignore: await read(".assetsignore"),
  };
  const { compatibilityDate, compatibilityFlags } = app;
  return {
    name: ASSETS_SERVICE,
    assets: {
      path: directory,
      config: JSON.stringify(config),
      ...(routerConfig.has_user_worker
        ? { userWorker: serviceOf(app.name) }
        : { compatibilityDate, compatibilityFlags }),
    },
  };
}
