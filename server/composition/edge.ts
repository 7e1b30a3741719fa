import { once } from "node:events";
import { existsSync } from "node:fs";
import http from "node:http";
import type { AlwaysOnApps } from "../../domain/ports/always-on-apps.ts";
import type { AppDatabases } from "../../domain/ports/app-databases.ts";
import type { AppEntries } from "../../domain/ports/app-entries.ts";
import type { AppStorage } from "../../domain/ports/app-storage.ts";
import type { AppVariables } from "../../domain/ports/app-variables.ts";
import type { AuthEntries } from "../../domain/ports/auth-entries.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import type { EdgePlatform } from "../../domain/ports/edge-platform.ts";
import type { TemporaryDatabases } from "../ports/postgres.ts";
import type { IsolatedRuntime } from "../ports/isolated-runtime.ts";
import type { RuntimeLogs } from "../../domain/ports/runtime-logs.ts";
import type { SqlDatabases } from "../../domain/ports/sql-databases.ts";
import type { UsageCounter } from "../../domain/usage/usage-counter.ts";
import type { Config } from "../config.ts";
import type { CloudflareSettings } from "../config/cloudflare-settings.ts";
import { TOOLCHAIN_FOLDERS } from "./bundler.ts";
import { appsDatabaseFolder, connectToAppsPostgres, startAppsPostgres } from "../database/apps-postgres.ts";
import type { ReadinessCheck } from "../http/health.ts";
import { serverTools } from "../drivers/bundler/toolchain.ts";
import { addressOf, isLocalDomain } from "../platforms/cloudflare/apps-address.ts";
import { openCloudflarePlatform } from "../platforms/cloudflare/open-cloudflare-platform.ts";
import {
  type EmbeddedPlatform,
  type EmbeddedPlatformOptions,
  openEmbeddedPlatform,
} from "../platforms/embedded/open-embedded-platform.ts";
import type { ControlGroups } from "../sandbox/cgroups/control-groups.ts";
import { BubblewrapSandbox } from "../sandbox/bubblewrap.ts";
import type { StartProcess } from "../sandbox/start-process.ts";
import { UnconfinedSandbox } from "../sandbox/unconfined-sandbox.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface EdgeServices {
  authEntries: AuthEntries;
  platform: EdgePlatform;
  databases: SqlDatabases;
  /** The databases of trials, which are on this machine. */
  trialDatabases: SqlDatabases;
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
  /** The address at which this process reaches an app, and the name by which it asks for it there. */
  addressOf(slug: string): { host: string; port: number; hostHeader: string; isTls: boolean };
  readiness: ReadinessCheck;
}

interface EdgeDeps {
  controlGroups: ControlGroups;
  startProcess: StartProcess;
  variables: AppVariables;
  /** Counts the requests to apps. */
  usageCounter: UsageCounter;
  /** Counts the requests to Cloudflare's API. */
  counter: Counter;
  tokenSecret: string;
  log: Logger;
}

/** Opens the edge platform: on this machine with its proxy listening, or in a Cloudflare account. */
export async function openEdge(config: Config, deps: EdgeDeps, opening: AsyncDisposableStack): Promise<EdgeServices> {
  const embedded = opening.use(await openEmbedded(config, deps));
  const { isolatedRuntime, temporaryDatabases, databases: trialDatabases } = embedded;
  const local = { isolatedRuntime, temporaryDatabases, trialDatabases };
  if (config.cloudflare !== null) return { ...local, ...(await openCloudflare(config, config.cloudflare, deps)) };
  const proxyAddress = { host: toReachableHost(config.host), port: embedded.port };
  const { scripts: platform } = embedded;
  return {
    ...local,
    authEntries: embedded.authEntries,
    platform,
    databases: embedded.databases,
    appDatabases: embedded.appDatabases,
    appEntries: embedded.appEntries,
    runtimeLogs: embedded.runtimeLogs,
    storage: embedded.storage,
    alwaysOn: embedded.alwaysOn,
    urlOf: (slug) => platform.urlOf(slug),
    addressOf: (slug) => ({ ...proxyAddress, hostHeader: new URL(platform.urlOf(slug)).host, isTls: false }),
    readiness: { name: "edge", check: () => checkProxy(proxyAddress) },
  };
}

/** Runs apps, and what is inspected. With Cloudflare as the edge platform only the latter, so its proxy does not listen. */
function openEmbedded(
  config: Config,
  { controlGroups, startProcess, variables, usageCounter, log }: EdgeDeps,
): Promise<EmbeddedPlatform> {
  return openEmbeddedPlatform({
    dataDirectory: config.dataDirectory,
    host: config.host,
    port: config.cloudflare === null ? config.edgePort : null,
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
  });
}

async function openCloudflare(
  { appsDomain }: Config,
  settings: CloudflareSettings,
  { variables, counter, tokenSecret, log }: EdgeDeps,
): Promise<Omit<EdgeServices, "isolatedRuntime" | "temporaryDatabases" | "trialDatabases">> {
  const domain = appsDomain ?? "localhost";
  const address = { domain, scheme: isLocalDomain(domain) ? "http" : "https" } as const;
  const shared = { variables, counter, tokenSecret, log };
  const platform = await openCloudflarePlatform({ ...settings, ...shared, address });
  const { scripts, databases, appDatabases, appEntries, authEntries, storage, runtimeLogs, alwaysOn } = platform;
  return {
    ...{ platform: scripts, databases, appDatabases, appEntries, authEntries, storage, runtimeLogs, alwaysOn },
    urlOf: (slug) => scripts.urlOf(slug),
    addressOf: (slug) => addressOf(scripts.urlOf(slug)),
    readiness: { name: "edge", check: () => platform.check() },
  };
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
