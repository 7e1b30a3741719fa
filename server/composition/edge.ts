import { once } from "node:events";
import { existsSync } from "node:fs";
import http from "node:http";
import type { AlwaysOnApps } from "../../domain/ports/always-on-apps.ts";
import type { AppDatabases } from "../../domain/ports/app-databases.ts";
import type { AppEntries } from "../../domain/ports/app-entries.ts";
import type { AppStorage } from "../../domain/ports/app-storage.ts";
import type { AppVariables } from "../../domain/ports/app-variables.ts";
import type { AuthEntries } from "../../domain/ports/auth-entries.ts";
import type { EdgePlatform } from "../../domain/ports/edge-platform.ts";
import type { TemporaryDatabases } from "../ports/postgres.ts";
import type { IsolatedRuntime } from "../ports/isolated-runtime.ts";
import type { RuntimeLogs } from "../../domain/ports/runtime-logs.ts";
import { keyedHashHex } from "../../domain/shared/keyed-hash.ts";
import { type LocalRuntimeLogs, RedisRuntimeLogs } from "../drivers/runtime-logs/redis-runtime-logs.ts";
import type { RedisConnections } from "./shared-state.ts";
import type { SqlDatabases } from "../../domain/ports/sql-databases.ts";
import type { UsageCounter } from "../../domain/usage/usage-counter.ts";
import type { Config } from "../config.ts";
import { TOOLCHAIN_FOLDERS } from "./bundler.ts";
import { appsDatabaseFolder, connectToAppsPostgres, startAppsPostgres } from "../database/apps-postgres.ts";
import type { ReadinessCheck } from "../http/health.ts";
import { serverTools } from "../drivers/bundler/toolchain.ts";
import { type EmbeddedPlatformOptions, openEmbeddedPlatform } from "../platforms/embedded/open-embedded-platform.ts";
import type { ControlGroups } from "../sandbox/cgroups/control-groups.ts";
import { BubblewrapSandbox } from "../sandbox/bubblewrap.ts";
import type { StartProcess } from "../sandbox/start-process.ts";
import { UnconfinedSandbox } from "../sandbox/unconfined-sandbox.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface EdgeServices {
  authEntries: AuthEntries;
  platform: EdgePlatform;
  databases: SqlDatabases;
  appDatabases: AppDatabases;
  appEntries: AppEntries;
  temporaryDatabases: TemporaryDatabases;
  runtimeLogs: RuntimeLogs;
  storage: AppStorage;
  alwaysOn: AlwaysOnApps;
  /** Runs an app beside its deployment, to inspect it. */
  isolatedRuntime: IsolatedRuntime;
  /** The public URL of an app. */
  urlOf(slug: string): string;
  /** The address at which this process reaches the edge proxy. */
  proxyAddress: { host: string; port: number };
  readiness: ReadinessCheck;
}

interface EdgeDeps {
  controlGroups: ControlGroups;
  startProcess: StartProcess;
  variables: AppVariables;
  /** Counts the requests to apps. */
  usageCounter: UsageCounter;
  redis: RedisConnections | null;
  tokenSecret: string;
  log: Logger;
}

/** Opens the embedded edge platform, with its proxy listening. */
export async function openEdge(
  config: Config,
  { controlGroups, startProcess, variables, usageCounter, redis, tokenSecret, log }: EdgeDeps,
  opening: AsyncDisposableStack,
): Promise<EdgeServices> {
  const embedded = opening.use(
    await openEmbeddedPlatform({
      dataDirectory: config.dataDirectory,
      host: config.host,
      port: config.edgePort,
      appsDomain: config.appsDomain,
      scheme: config.publicUrl?.startsWith("https:") === true ? "https" : "http",
      sandbox: config.sandbox,
      nodeServers: openNodeServers(config, controlGroups, startProcess),
      postgres: appsPostgres(config, log),
      groups: controlGroups,
      trustedProxies: config.trustedProxies,
      variables,
      log,
      onRequest: (appId) => usageCounter.countRequest(appId),
      onServerError: (appId) => usageCounter.countServerError(appId),
      limits: { maxActive: config.maxActiveApps },
    }),
  );
  const proxyAddress = { host: toReachableHost(config.host), port: embedded.port };
  return {
    authEntries: embedded.authEntries,
    platform: embedded.scripts,
    databases: embedded.databases,
    appDatabases: embedded.appDatabases,
    appEntries: embedded.appEntries,
    temporaryDatabases: embedded.temporaryDatabases,
    runtimeLogs: openRuntimeLogs(embedded.runtimeLogs, redis, tokenSecret, opening),
    storage: embedded.storage,
    alwaysOn: embedded.alwaysOn,
    isolatedRuntime: embedded.isolatedRuntime,
    urlOf: (slug) => embedded.scripts.urlOf(slug),
    proxyAddress,
    readiness: { name: "edge", check: () => checkProxy(proxyAddress) },
  };
}

/** With Redis, the logs of apps can be read and followed in every process. */
function openRuntimeLogs(
  local: LocalRuntimeLogs,
  redis: RedisConnections | null,
  tokenSecret: string,
  opening: AsyncDisposableStack,
): RuntimeLogs {
  if (redis === null) return local;
  // Installations can share a Redis, and only their processes know the secret.
  const namespace = keyedHashHex(tokenSecret, "runtime-logs", "redis");
  return opening.use(new RedisRuntimeLogs({ ...redis, namespace, local }));
}

const TEMPORARY_MB = 256;

/** What runs Node servers. */
export function openNodeServers(
  { sandbox }: Pick<Config, "sandbox">,
  groups?: ControlGroups,
  startProcess?: StartProcess,
): EmbeddedPlatformOptions["nodeServers"] {
  return {
    sandbox:
      sandbox === "none"
        ? new UnconfinedSandbox({ groups })
        : new BubblewrapSandbox({ kind: "apps", groups, temporaryMb: TEMPORARY_MB, startProcess }),
    tools: serverTools(TOOLCHAIN_FOLDERS.modules),
  };
}

/** The PostgreSQL server of apps: the one that the operator names, or one that this process starts. */
export function appsPostgres(
  { appsDatabaseUrl, databaseUrl, dataDirectory }: Pick<Config, "appsDatabaseUrl" | "databaseUrl" | "dataDirectory">,
  log: Logger,
): EmbeddedPlatformOptions["postgres"] {
  if (appsDatabaseUrl !== null)
    return { exists: () => true, open: () => connectToAppsPostgres(appsDatabaseUrl, databaseUrl) };
  const folder = appsDatabaseFolder(dataDirectory);
  return { exists: () => existsSync(folder), open: () => startAppsPostgres(folder, log) };
}

/** Any response means that the proxy works. The status is 404, because the request has no host name of an app. */
async function checkProxy(address: { host: string; port: number }): Promise<void> {
  const [response] = (await once(http.get(address), "response")) as [http.IncomingMessage];
  response.resume();
}

/** Returns the address at which this machine reaches a server that listens on `host`. */
export function toReachableHost(host: string): string {
  return host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
}
