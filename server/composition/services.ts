import { once } from "node:events";
import http from "node:http";
import path from "node:path";
import { Redis } from "ioredis";
import type { PgBoss } from "pg-boss";
import { enqueueDeployment } from "../../domain/deployments/enqueue-deployment.ts";
import type { DeploymentDeps } from "../../domain/deployments/run-deployment.ts";
import { AppListCache } from "../../domain/apps/app-list-cache.ts";
import { ProcedureIndex } from "../../domain/procedures/procedure-index.ts";
import { Plans } from "../../domain/plans/plans.ts";
import type { AppBuilder } from "../../domain/ports/app-builder.ts";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import type { ClientMetadataFetcher } from "../../domain/ports/client-metadata.ts";
import type { CodeRuntime } from "../../domain/ports/code-runtime.ts";
import type { Counter } from "../../domain/ports/counter.ts";
import type { Db } from "../../domain/database-types.ts";
import type { Services } from "../../routers/core/context.ts";
import { openBuildPlatform } from "./deployments.ts";
import type { Config } from "../config.ts";
import { type Database, openDatabase } from "../database/open-database.ts";
import type { Orm } from "../database/orm.ts";
import { EdgeProxyCaller } from "../drivers/app-caller/edge-proxy-caller.ts";
import { FilesystemAuthEntries } from "../platforms/embedded/storage/auth-entries.ts";
import { PostgresChangeFeed } from "../drivers/change-feed/postgres.ts";
import { RedisChangeFeed } from "../drivers/change-feed/redis.ts";
import { topicOf } from "../drivers/change-feed/topic.ts";
import { PublicWebClientMetadata } from "../drivers/client-metadata/https-metadata-fetcher.ts";
import { DenoCodeRuntime } from "../drivers/code-runtime/deno-code-runtime.ts";
import { MODULES_FOLDER } from "../drivers/code-runtime/importable-modules.ts";
import { openProgramsFolder } from "../drivers/code-runtime/program-folders.ts";
import { NoCodeRuntime } from "../drivers/code-runtime/unavailable-code-runtime.ts";
import { DatabaseCounter } from "../drivers/counter/database.ts";
import { MemoryCounter } from "../drivers/counter/memory.ts";
import { RedisCounter } from "../drivers/counter/redis.ts";
import { openBoss, PgBossQueue } from "../drivers/job-queue/pg-boss.ts";
import { IsolatedDiscovery } from "../drivers/procedure-discovery/isolated-discovery.ts";
import { FilesystemObjectStore } from "../drivers/object-store/filesystem.ts";
import { BubblewrapSandbox } from "../sandbox/bubblewrap.ts";
import { openEmbeddedEdge, type RunningEdge } from "../platforms/embedded/embedded-edge.ts";
import type { ReadinessCheck } from "../http/health.ts";
import { reachable } from "../http/listen-address.ts";
import type { Logger } from "../telemetry/logger.ts";
import { openIdentityServices, type People } from "./identity.ts";
import { tokenSecret } from "../startup/token-secret.ts";
import { requeueActiveJobs } from "../worker/requeue-active-jobs.ts";

/** Everything of the running service that other parts are made of. */
export interface OpenServices extends People {
  services: Services;
  buildDeps: DeploymentDeps;
  readiness: readonly ReadinessCheck[];
  orm: Orm;
  boss: PgBoss;
  /** Closes it all, in the opposite order. */
  close(): Promise<void>;
}

/** How long a DELETE waits for the teardown, in milliseconds. */
const TEARDOWN_WAIT_MS = 10_000;

/** What the composition root does not choose. */
export interface Outside {
  appBuilder: AppBuilder | null;
  /** Reads what OAuth clients publish about themselves; from the public web alone by default. */
  clientMetadata?: ClientMetadataFetcher | undefined;
  /** Known once the server listens. */
  publicUrl(): string;
}

/** The composition root: chooses a driver for every port, as the configuration says, and opens it. */
export async function openServices(config: Config, log: Logger, outside: Outside): Promise<OpenServices> {
  const { appBuilder, publicUrl, clientMetadata = new PublicWebClientMetadata() } = outside;
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await openDatabase(config, log));
  const { orm } = database;
  const boss = await openBoss(database.url, log);
  opening.defer(() => boss.stop({ graceful: false, close: true }));
  if (database.isEmbedded) await requeueActiveJobs(orm, boss);
  const { counter, callCounter, changes, accessChanges, check } = await openShared(config, database, opening, log);
  const secret = await tokenSecret(config.tokenSecret, config.dataDirectory);
  const inData = (folder: string) => path.join(config.dataDirectory, folder);
  const authEntries = new FilesystemAuthEntries(inData("auth-entries"));
  const objects = new FilesystemObjectStore(inData("objects"));
  const edge = opening.use(await openEmbeddedEdge(edgeOptions(config, inData("edge"), authEntries, log)));
  const db = orm.em.fork().getKysely() as unknown as Db;
  const urlOf = (slug: string) => edge.platform.urlOf(slug);
  const shared = {
    ...{ em: orm.em, jobs: new PgBossQueue(boss), objects, authEntries },
    ...{ appBuilder, tokenSecret: secret, changes },
  };
  const plans = new Plans(config.plans, config.defaultPlan);
  const services: Services = {
    ...shared,
    ...{ db, plans, counter, callCounter, accessChanges, urlOf, teardownWaitMs: TEARDOWN_WAIT_MS },
    ...agentServices({ config, db, edge, urlOf }, await openCodeRuntime(config, opening, log)),
    reportInternalError: (err, what) => log.error({ err }, what),
    enqueueDeployment: (em, build) => enqueueDeployment(em, shared.jobs, build),
  };
  const buildPlatform = await openBuildPlatform(config);
  // The edge has locked the data folder by now, so no other process can be building in it.
  await buildPlatform.workspaces.clear();
  const buildDeps: DeploymentDeps = {
    ...shared,
    ...buildPlatform,
    ...{ edge: edge.platform, databases: edge.databases },
    discovery: new IsolatedDiscovery({ start: edge.startIsolated }),
    secrets: [secret, ...passwordsOf(config)],
    reportInternalError: (err, build) => log.error({ err, ...build }, "a build met a fault that is not the app's"),
  };
  const opened = opening.move();
  return {
    services,
    buildDeps,
    ...openIdentityServices({
      orm,
      config,
      log,
      counter,
      accessChanges,
      clientMetadata,
      tokenSecret: secret,
      publicUrl,
    }),
    readiness: [databaseCheck(orm), queueCheck(boss), edgeCheck(config.host, edge.port), ...check],
    orm,
    boss,
    close: () => opened.disposeAsync(),
  };
}

/** What several processes share: on Redis when there is one, else in the database, or each for itself. */
async function openShared(
  config: Config,
  { orm, url }: Database,
  opening: AsyncDisposableStack,
  log: Logger,
): Promise<Shared> {
  if (config.redisUrl === null) {
    const onFault = (err: unknown) => log.warn({ err }, "changes of apps cannot be announced to or by other processes");
    const feed = opening.use(await PostgresChangeFeed.open({ url, em: orm.em, onFault }));
    return { counter: new DatabaseCounter(orm.em), callCounter: new MemoryCounter(), ...feedsOver(feed), check: [] };
  }
  // A Redis that takes a command and never answers must not keep a deploy waiting.
  const redis = new Redis(config.redisUrl, { maxRetriesPerRequest: 2, connectTimeout: 5000, commandTimeout: 5000 });
  const subscriber = new Redis(config.redisUrl, { maxRetriesPerRequest: null, connectTimeout: 5000 });
  redis.on("error", (err) => log.warn({ err }, "Redis cannot be reached, and nothing can be deployed until it is"));
  subscriber.on("error", (err) => log.debug({ err }, "changes of apps cannot be announced"));
  for (const connection of [redis, subscriber]) opening.defer(() => connection.disconnect());
  const counter = new RedisCounter(redis);
  return {
    ...{ counter, callCounter: counter },
    ...feedsOver(new RedisChangeFeed(redis, subscriber)),
    check: [{ name: "redis", check: () => redis.ping().then(() => undefined) }],
  };
}

function feedsOver(feed: ChangeFeed): Pick<Shared, "changes" | "accessChanges"> {
  return { changes: topicOf(feed, "apps"), accessChanges: topicOf(feed, "access") };
}

interface Shared {
  counter: Counter;
  callCounter: Counter;
  changes: ChangeFeed;
  accessChanges: ChangeFeed;
  check: ReadinessCheck[];
}

function edgeOptions(
  config: Config,
  root: string,
  entries: FilesystemAuthEntries,
  log: Logger,
): Parameters<typeof openEmbeddedEdge>[0] {
  const { host, edgePort: port, appsDomain, sandbox, trustedProxies, maxActiveApps: maxActive } = config;
  const scheme = config.publicUrl?.startsWith("https:") === true ? "https" : "http";
  return { root, host, port, appsDomain, scheme, sandbox, trustedProxies, entries, log, limits: { maxActive } };
}

function databaseCheck(orm: Orm): ReadinessCheck {
  return {
    name: "database",
    check: () =>
      orm.em
        .fork()
        .execute("select 1")
        .then(() => undefined),
  };
}

function queueCheck(boss: PgBoss): ReadinessCheck {
  return { name: "queue", check: () => boss.getQueue("build").then(() => undefined) };
}

function edgeCheck(host: string, port: number): ReadinessCheck {
  return { name: "edge", check: () => edgeAnswers(host, port) };
}

/** Any answer will do: without an app's host name it is a 404. */
async function edgeAnswers(host: string, port: number): Promise<void> {
  const request = http.get({ host: reachable(host), port });
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  response.resume();
}

/** What agents work with: the procedures of apps, and a place to run code. */
function agentServices(
  { config, db, edge, urlOf }: { config: Config; db: Db; edge: RunningEdge; urlOf(slug: string): string },
  codeRuntime: CodeRuntime,
): Pick<Services, "procedureIndex" | "appListCache" | "codeRuntime" | "appCaller"> {
  const edgeProxy = { host: reachable(config.host), port: edge.port };
  const hostOf = (slug: string) => new URL(urlOf(slug)).host;
  return {
    procedureIndex: new ProcedureIndex(db),
    appListCache: new AppListCache(db, urlOf),
    codeRuntime,
    appCaller: new EdgeProxyCaller((slug) => ({ ...edgeProxy, hostHeader: hostOf(slug) })),
  };
}

/** User ids for programs of agents, beside those of builds and apps. */
const PROGRAM_SLOTS = { firstUid: 61_100, count: 80 };

async function openCodeRuntime(config: Config, opening: AsyncDisposableStack, log: Logger): Promise<CodeRuntime> {
  if (config.sandbox === "none") return new NoCodeRuntime();
  const sandbox = new BubblewrapSandbox({ temporaryMb: 32, slots: PROGRAM_SLOTS });
  const onFault = (err: unknown, call: string) => log.error({ err, call }, "a call of a program failed");
  const programsFolder = await openProgramsFolder(config.dataDirectory);
  const options = { sandbox, programsFolder, modulesFolder: MODULES_FOLDER, onFault };
  return opening.use(new DenoCodeRuntime(options));
}

/** What must not show up in a build's log, should a tool ever print it. */
function passwordsOf(config: Config): string[] {
  return [config.databaseUrl, config.redisUrl, config.gitBaseUrl]
    .map((url) => (url === null ? undefined : URL.parse(url)?.password))
    .filter((password): password is string => password !== undefined && password !== "");
}
