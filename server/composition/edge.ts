import { once } from "node:events";
import { existsSync } from "node:fs";
import http from "node:http";
import path from "node:path";
import type { AppData } from "../../domain/ports/app-data.ts";
import type { AppVariables } from "../../domain/ports/app-variables.ts";
import { EmbeddedAppData } from "../app-files/embedded-app-data.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import type { TemporaryDatabases } from "../ports/postgres.ts";
import type { IsolatedRuntime } from "../ports/isolated-runtime.ts";
import type { SqlDatabases } from "../../domain/ports/sql-databases.ts";
import type { UsageCounter } from "../../domain/usage/usage-counter.ts";
import type { Config } from "../config.ts";
import type { CloudflareSettings } from "../config/cloudflare-settings.ts";
import { TOOLCHAIN_FOLDERS } from "./bundler.ts";
import { appsDatabaseFolder, connectToAppsPostgres, startAppsPostgres } from "../database/apps-postgres.ts";
import type { Orm } from "../database/orm.ts";
import { checkEdgeFolder } from "./edge-folder.ts";
import type { ReadinessCheck } from "../http/health.ts";
import type { AppAddress } from "../drivers/app-caller/send-app-request.ts";
import { serverTools } from "../drivers/bundler/toolchain.ts";
import type { CreateStores } from "../platforms/embedded/edge-stores.ts";
import { type EmbeddedPlatformOptions, openEmbeddedPlatform } from "../platforms/embedded/open-embedded-platform.ts";
import { identifyInstallation, type Installation } from "../installation/installation.ts";
import { readSharedInstallation, recordInstallation } from "../installation/shared-installation.ts";
import { type IsolatedPlatform, openIsolatedPlatform } from "../platforms/embedded/open-isolated-platform.ts";
import { EdgeClient } from "../platforms/remote/edge-client.ts";
import { type EdgePorts, INSTALLATION_PATH } from "../platforms/remote/edge-methods.ts";
import { EdgeServer } from "../platforms/remote/edge-server.ts";
import { openRemoteEdge } from "../platforms/remote/remote-edge.ts";
import { addressOf, isLocalDomain } from "../platforms/cloudflare/apps-address.ts";
import { openCloudflarePlatform } from "../platforms/cloudflare/open-cloudflare-platform.ts";
import type { ControlGroups } from "../sandbox/cgroups/control-groups.ts";
import { BubblewrapSandbox } from "../sandbox/bubblewrap.ts";
import type { StartProcess } from "../sandbox/start-process.ts";
import { UnconfinedSandbox } from "../sandbox/unconfined-sandbox.ts";
import type { Logger } from "../telemetry/logger.ts";

export interface EdgeServices extends Omit<EdgePorts, "appData"> {
  /** Copies and restores the data of apps; `null` on Cloudflare. */
  appData: AppData | null;
  temporaryDatabases: TemporaryDatabases;
  /** For apps that are tried in the isolated runtime, on this machine. */
  trialDatabases: SqlDatabases;
  /** Runs an app beside its deployment, to inspect it. */
  isolatedRuntime: IsolatedRuntime;
  /** The public URL of an app. */
  urlOf(slug: string): string;
  /**
   * The address at which this process reaches an app, and the name by which it asks for it there.
   *
   * @param unreachable - the address that was returned before and refused a connection. Another one is returned if there is one
   */
  addressOf(slug: string, unreachable?: AppAddress): AppAddress;
  readiness: ReadinessCheck;
  /** The installation to which the apps belong. */
  installation: Installation;
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
  /** Aborted when the process is about to stop. */
  draining: AbortSignal;
  log: Logger;
  em: Orm["em"];
  /** Called when a restored copy has taken over the apps in the Cloudflare account. */
  onTakenOver: (error: Error) => void;
}

/**
 * Opens the edge platform: the embedded one, with its proxy listening; without the role `edge`, that of other processes; or one in a
 * Cloudflare account.
 */
export async function openEdge(config: Config, deps: EdgeDeps, opening: AsyncDisposableStack): Promise<EdgeServices> {
  const { cloudflare, edgeInternalUrls } = config;
  if (cloudflare !== null) return await openCloudflare(config, cloudflare, deps, opening);
  return edgeInternalUrls.length === 0
    ? await openEmbeddedEdge(config, deps, opening)
    : await openEdgesOfOtherProcesses(config, deps, opening);
}

async function openEmbeddedEdge(
  config: Config,
  { controlGroups, startProcess, variables, usageCounter, tokenSecret, draining, log, em }: EdgeDeps,
  opening: AsyncDisposableStack,
): Promise<EdgeServices> {
  await checkEdgeFolder(config);
  const createStores = config.edgeCluster && (await openCluster(config, { controlGroups, tokenSecret, log }, opening));
  const embedded = opening.use(
    await openEmbeddedPlatform({
      ...(createStores && { createStores }),
      dataDirectory: config.dataDirectory,
      host: config.host,
      port: config.edgePort,
      appsDomain: config.appsDomain,
      scheme: schemeOf(config),
      sandbox: config.sandbox,
      nodeServers: openNodeServers(config, controlGroups, startProcess),
      postgres: appsPostgres(config, log),
      groups: controlGroups,
      trustedProxies: config.trustedProxies,
      variables,
      draining,
      log,
      onRequest: (appId) => usageCounter.countRequest(appId),
      onServerError: (appId) => usageCounter.countServerError(appId),
      limits: { maxActive: config.maxActiveApps },
    }),
  );
  const { scripts, databases, data, ...platform } = embedded;
  const workFolder = path.join(config.dataDirectory, "app-data-copies");
  const appData = await EmbeddedAppData.open({ ...data, workFolder, variables });
  const ports: EdgePorts = { ...platform, platform: scripts, databases, appData };
  const installation = await openInstallation(config, em, createStores === null);
  if (config.internalPort !== null) {
    const { host, internalPort: port, dataDirectory } = config;
    opening.use(await EdgeServer.listen({ ports, installation, tokenSecret, host, port, dataDirectory, log }));
  }
  return {
    ...ports,
    temporaryDatabases: embedded.temporaryDatabases,
    trialDatabases: databases,
    isolatedRuntime: embedded.isolatedRuntime,
    ...behindProxy({ host: toReachableHost(config.host), port: embedded.port }, (slug) => scripts.urlOf(slug)),
    installation,
  };
}

/** Several edges have no common data folder: the database says which installation they are. */
async function openInstallation(
  { dataDirectory }: Pick<Config, "dataDirectory">,
  em: Orm["em"],
  isAlone: boolean,
): Promise<Installation> {
  if (isAlone) return await identifyInstallation(dataDirectory);
  const installation = await readSharedInstallation(em, dataDirectory);
  if (installation.state === "active") await recordInstallation(em, dataDirectory, installation);
  return installation;
}

/** Loads what only one of several edges needs. */
async function openCluster(
  config: Config,
  deps: Pick<EdgeDeps, "controlGroups" | "tokenSecret" | "log">,
  opening: AsyncDisposableStack,
): Promise<CreateStores> {
  const { openClusterEdge } = await import("./edge-cluster.ts");
  return openClusterEdge(config, deps, opening);
}

/** Opens what builds need of an edge in a process whose apps run elsewhere. */
async function openIsolated(
  config: Config,
  { controlGroups, startProcess, log }: EdgeDeps,
  opening: AsyncDisposableStack,
): Promise<IsolatedPlatform> {
  const { dataDirectory, sandbox } = config;
  return opening.use(
    await openIsolatedPlatform({
      ...{ dataDirectory, sandbox, groups: controlGroups },
      nodeServers: openNodeServers(config, controlGroups, startProcess),
      postgres: { ...appsPostgres(config, log), log },
    }),
  );
}

async function openEdgesOfOtherProcesses(
  config: Config,
  deps: EdgeDeps,
  opening: AsyncDisposableStack,
): Promise<EdgeServices> {
  const { tokenSecret, log } = deps;
  const isolated = await openIsolated(config, deps, opening);
  const client = opening.use(new EdgeClient({ urls: config.edgeInternalUrls, tokenSecret }));
  const urlOf = (slug: string): string => `${schemeOf(config)}://${slug}.${config.appsDomain}`;
  return {
    ...openRemoteEdge({ client, urlOf, log }),
    ...isolated,
    urlOf,
    addressOf(slug, unreachable) {
      if (unreachable !== undefined) client.avoid(unreachable.host);
      return proxyAddress({ host: client.host, port: config.edgePort }, urlOf(slug));
    },
    readiness: { name: "edge", check: () => client.check() },
    installation: (await client.call(INSTALLATION_PATH, [])) as Installation,
  };
}

/** How apps are reached that an edge proxy of this process serves. */
function behindProxy(
  address: { host: string; port: number },
  urlOf: (slug: string) => string,
): Pick<EdgeServices, "urlOf" | "addressOf" | "readiness"> {
  return {
    urlOf,
    addressOf: (slug) => proxyAddress(address, urlOf(slug)),
    readiness: { name: "edge", check: () => checkProxy(address) },
  };
}

function proxyAddress(address: { host: string; port: number }, url: string): AppAddress {
  return { ...address, hostHeader: new URL(url).host, isTls: false };
}

function schemeOf({ publicUrl }: Pick<Config, "publicUrl">): "http" | "https" {
  return publicUrl?.startsWith("https:") === true ? "https" : "http";
}

async function openCloudflare(
  config: Config,
  settings: CloudflareSettings,
  deps: EdgeDeps,
  opening: AsyncDisposableStack,
): Promise<EdgeServices> {
  const { variables, counter, tokenSecret, log, em, onTakenOver } = deps;
  const { dataDirectory, databaseUrl } = config;
  const domain = config.appsDomain ?? "localhost";
  const address = { domain, scheme: isLocalDomain(domain) ? "http" : "https" } as const;
  const isolated = await openIsolated(config, deps, opening);
  // The embedded database is in the data folder, and is copied with it.
  const isShared = databaseUrl !== null;
  const installation = await (isShared
    ? readSharedInstallation(em, dataDirectory)
    : identifyInstallation(dataDirectory));
  const shared = { variables, counter, tokenSecret, log, installation, onTakenOver };
  const platform = opening.use(await openCloudflarePlatform({ ...settings, ...shared, address }));
  // After the platform has claimed the account for it.
  if (isShared && installation.state === "active") await recordInstallation(em, dataDirectory, installation);
  const { scripts, ...ports } = platform;
  return {
    ...ports,
    ...isolated,
    platform: scripts,
    appData: null,
    urlOf: (slug) => scripts.urlOf(slug),
    addressOf: (slug) => addressOf(scripts.urlOf(slug)),
    readiness: { name: "edge", check: () => platform.check() },
    installation,
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

type AppsPostgresConfig = Pick<Config, "appsDatabaseUrl" | "databaseUrl" | "dataDirectory"> &
  Partial<Pick<Config, "isOneOfSeveral">>;

/** The PostgreSQL server of apps: the one that the operator names, or one that this process starts. */
export function appsPostgres(
  { appsDatabaseUrl, databaseUrl, dataDirectory, isOneOfSeveral: isShared = false }: AppsPostgresConfig,
  log: Logger,
): EmbeddedPlatformOptions["postgres"] {
  if (appsDatabaseUrl !== null)
    return { isShared, exists: () => true, open: () => connectToAppsPostgres(appsDatabaseUrl, databaseUrl) };
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
