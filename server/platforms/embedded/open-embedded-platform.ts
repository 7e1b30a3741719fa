import path from "node:path";
import type { AlwaysOnApps } from "../../../domain/ports/always-on-apps.ts";
import type { AppDatabases } from "../../../domain/ports/app-databases.ts";
import type { AppEntries } from "../../../domain/ports/app-entries.ts";
import type { AppStorage } from "../../../domain/ports/app-storage.ts";
import type { AppVariables } from "../../../domain/ports/app-variables.ts";
import type { AuthEntries } from "../../../domain/ports/auth-entries.ts";
import type { EdgePlatform } from "../../../domain/ports/edge-platform.ts";
import type { IsolatedRuntime } from "../../ports/isolated-runtime.ts";
import type { RuntimeLogs } from "../../../domain/ports/runtime-logs.ts";
import type { SqlDatabases } from "../../../domain/ports/sql-databases.ts";
import { lockFolder } from "../../files/folder-lock.ts";
import { trustedPeers } from "../../http/client-address.ts";
import type { TemporaryDatabases } from "../../ports/postgres.ts";
import { EmbeddedAppDatabases } from "./app-databases/embedded-app-databases.ts";
import { SqliteReader } from "./app-databases/sqlite-reader.ts";
import { type CreateStores, localStores } from "./edge-stores.ts";
import { EmbeddedIsolatedRuntime } from "./isolated-runtime.ts";
import { keepFiles } from "./node-server/kept-files.ts";
import {
  createLaunchers,
  createUnpack,
  LAUNCHER_LIMITS,
  type LauncherLimits,
  type LauncherOptions,
} from "./launchers.ts";
import { AppPostgres, type AppPostgresOptions } from "./postgres/app-postgres.ts";
import { PostgresReader } from "./app-databases/postgres-reader.ts";
import { EdgeForwarding } from "./proxy/edge-forwarding.ts";
import { EdgeProxy } from "./proxy/edge-proxy.ts";
import type { RequestLimits } from "./proxy/open-requests.ts";
import { EmbeddedRuntimeLogs } from "./runtime-logs/embedded-runtime-logs.ts";
import { ScriptPublisher } from "./scripts/script-publisher.ts";
import type { Scripts } from "./scripts/script-store.ts";
import type { AppDataFolders } from "./storage/data-folders.ts";
import { EmbeddedAppStorage } from "./storage/embedded-app-storage.ts";
import { KeptApps } from "./supervisor/kept-apps.ts";
import { Supervisor } from "./supervisor/supervisor.ts";
import type { PlatformLog, SupervisorLimits } from "./supervisor/supervisor-options.ts";

export interface EmbeddedPlatformOptions extends LauncherOptions {
  /** The platform stores its data in the folders `edge` and `auth-entries` below. Only one process may use them. */
  dataDirectory: string;
  /** The address of the edge proxy. Port 0 selects a free port. */
  host: string;
  port: number;
  /** The domain of all apps, with its port if any; `null` for `localhost:<port of the edge proxy>`. */
  appsDomain: string | null;
  /** The scheme of the apps' URLs; `https` if a reverse proxy terminates TLS. */
  scheme: "http" | "https";
  /** The PostgreSQL server of Node servers. It is opened when the first one needs it. */
  postgres: Omit<AppPostgresOptions, "log">;
  /** Addresses and CIDR ranges of reverse proxies that may name the client of a request. */
  trustedProxies: readonly string[];
  /** The variables of the apps. They are kept in memory only. */
  variables: AppVariables;
  /** Once it is aborted, each connection to the proxy closes after its next response. */
  draining?: AbortSignal;
  log: PlatformLog;
  /** Called for each request that an app gets, with the id of the app. */
  onRequest?: (appId: string) => void;
  /** Called for each of these requests whose response has a status of 500 or more. */
  onServerError?: (appId: string) => void;
  limits?: Partial<PlatformLimits>;
  /** Where the apps and their data are; by default on this machine. */
  createStores?: CreateStores;
}

export interface PlatformLimits extends SupervisorLimits, RequestLimits, LauncherLimits {
  closeGraceMs: number;
}

const DEFAULT_LIMITS: PlatformLimits = {
  maxActive: 40,
  idleMs: 60_000,
  hangMs: 10_000,
  residentMb: 768,
  drainMs: 5_000,
  ...LAUNCHER_LIMITS,
  closeGraceMs: 10_000,
  requestsPerApp: 512,
  requestsPerClient: 128,
};

/** The share of the processes that apps which are always on may have. The others remain for apps that get requests. */
const KEPT_SHARE = 0.5;

/** What copies the data of apps needs of the platform. */
export interface EmbeddedData {
  folders: AppDataFolders;
  live: Scripts["live"];
  sqlite: SqliteReader;
  postgres: AppPostgres;
}

/** The ports of an edge platform, on this machine. */
export interface EmbeddedPlatform extends AsyncDisposable {
  data: EmbeddedData;
  scripts: EdgePlatform;
  databases: SqlDatabases;
  appDatabases: AppDatabases;
  appEntries: AppEntries;
  temporaryDatabases: TemporaryDatabases;
  authEntries: AuthEntries;
  isolatedRuntime: IsolatedRuntime;
  runtimeLogs: RuntimeLogs;
  storage: AppStorage;
  alwaysOn: AlwaysOnApps;
  supervisor: Supervisor;
  /** The port of the edge proxy. */
  port: number;
  /** Waits for requests in flight for a limited time, then stops every process. */
  close(): Promise<void>;
}

/**
 * Opens the embedded edge platform: locks its folder, cleans up after a crash, and starts the edge proxy.
 *
 * @throws when another process uses the folder, or the port is in use
 */
export async function openEmbeddedPlatform(options: EmbeddedPlatformOptions): Promise<EmbeddedPlatform> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const root = path.join(options.dataDirectory, "edge");
  const lock = lockFolder(root);
  const parts = createParts(root, options, limits);
  const { launchRecords, stores, sqlite, postgres, runtimeLogs, storage, supervisor, databases } = parts;
  const { appDatabases, proxy, isolatedRuntime, keptApps, urlOf } = parts;
  const { scripts: store, appEntries, authEntries } = stores;
  const close = once(async () => {
    keptApps.stop();
    await proxy.close(limits.closeGraceMs);
    await supervisor.close();
    await stores.close();
    await postgres[Symbol.asyncDispose]();
    await runtimeLogs.close();
    lock.release();
  });
  try {
    await launchRecords.keepAll(
      (folders) => keepFiles(options.nodeServers.sandbox, folders),
      (err) => options.log.warn({ err }, "files of a server that was killed could not be kept"),
    );
    await stores.open();
    const domain = options.appsDomain ?? "localhost";
    const port = await proxy.listen(options.port, options.host, domain.replace(/:\d+$/, ""));
    stores.follow(supervisor, port);
    return {
      data: { folders: stores.dataFolders, live: (slug) => store.live(slug), sqlite, postgres },
      scripts: new ScriptPublisher({ store, apps: supervisor, urlOf, isDisturbed: stores.isDisturbed }),
      databases,
      appDatabases,
      appEntries,
      temporaryDatabases: postgres,
      authEntries,
      runtimeLogs,
      storage,
      alwaysOn: keptApps,
      isolatedRuntime,
      supervisor,
      port,
      close,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function createParts(root: string, options: EmbeddedPlatformOptions, limits: PlatformLimits) {
  const { scheme, variables, log, nodeServers, createStores = localStores } = options;
  const observers = { onRequest: options.onRequest, onServerError: options.onServerError };
  const unpack = createUnpack(nodeServers.sandbox);
  const launchRoot = path.join(root, "run");
  const launchers = createLaunchers(launchRoot, options, limits);
  const postgres = new AppPostgres({ ...options.postgres, log });
  const sqlite = new SqliteReader({ sandbox: nodeServers.sandbox, copyRoot: launchRoot });
  const { dataDirectory } = options;
  const { launcher } = launchers;
  const stores = createStores({ dataDirectory, root, launchRoot, launcher, unpack, postgres, sqlite, log });
  const { scripts: store, authEntries, databaseDirectory } = stores;
  const runtimeLogs = new EmbeddedRuntimeLogs(({ slug, id }) => store.logFolder(slug, id));
  const urlOf = (slug: string) => `${scheme}://${slug}.${options.appsDomain ?? `localhost:${proxy.port}`}`;
  const supervisor = new Supervisor({
    ...{ urlOf, store, postgres, runtimeLogs, databaseDirectory, variables, limits, log },
    launcher: stores.launcher,
    placement: stores.placement,
    nodeLauncher: launchers.nodeLauncher,
    onStart: (slug) => storage.noteStart(slug),
    isKept: (appId) => keptApps.has(appId),
  });
  const keptApps = new KeptApps({ apps: supervisor, limit: Math.floor(limits.maxActive * KEPT_SHARE), log });
  const storage = new EmbeddedAppStorage({ store, apps: supervisor, measure: stores.measure });
  const databases = stores.openDatabases(supervisor);
  const { findWorkerDatabase, placement } = stores;
  const reader = new PostgresReader(postgres);
  const readers = { findWorkerDatabase, placement, sqlite, postgres: reader };
  const appDatabases = new EmbeddedAppDatabases({ store, variables, ...readers });
  const trusts = trustedPeers(options.trustedProxies);
  const { forwardingSecret } = stores;
  const edges = forwardingSecret === null ? null : new EdgeForwarding(forwardingSecret);
  const shared = { log, trusts, scheme, limits, edges, draining: options.draining };
  const proxy = new EdgeProxy({ apps: supervisor, entries: authEntries, ...shared, ...observers });
  const isolatedRuntime = new EmbeddedIsolatedRuntime({
    ...launchers,
    unpack,
    postgres,
    launchRoot,
    databaseDirectory,
  });
  const opened = { supervisor, databases, appDatabases, proxy, isolatedRuntime, keptApps, urlOf };
  return { launchRecords: launchers.launchRecords, stores, sqlite, postgres, runtimeLogs, storage, ...opened };
}

function once(work: () => Promise<void>): () => Promise<void> {
  let result: Promise<void> | undefined;
  return () => (result ??= work());
}
