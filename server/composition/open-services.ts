import type { PgBoss } from "pg-boss";
import type { AlwaysOnDeps } from "../../domain/always-on/sync-always-on-apps.ts";
import { AppListVersions } from "../../domain/apps/app-list-versions.ts";
import type { Db } from "../../domain/database-types.ts";
import { enqueueDeployment } from "../../domain/deployments/enqueue-deployment.ts";
import type { DeploymentDeps } from "../../domain/deployments/run-deployment.ts";
import { EventTails } from "../../domain/events/follow-events.ts";
import type { Embeddings } from "../../domain/ports/embeddings.ts";
import { hideProcedures, renameInIndex } from "../../domain/procedures/replace-procedures.ts";
import type { RuntimeLogTail } from "../../domain/runtime-logs/runtime-log-tail.ts";
import { prepareVariables } from "../../domain/variables/prepare-variables.ts";
import { ValueCipher } from "../../domain/shared/value-cipher.ts";
import { FairQueue } from "../../domain/shared/fair-queue.ts";
import { ReferenceCountedInstances } from "../../domain/shared/reference-counted-instances.ts";
import type { EnforceDeps } from "../../domain/storage/enforce-storage.ts";
import type { Service } from "../../routers/core/context.ts";
import type { Config } from "../config.ts";
import type { ConnectionPool } from "../database/connection-pool.ts";
import type { Orm } from "../database/orm.ts";
import { HttpsMetadataFetcher } from "../drivers/client-metadata/https-metadata-fetcher.ts";
import type { ReadinessChecks, ReadinessDetails } from "../http/health.ts";
import type { Logger } from "../telemetry/logger.ts";
import { type AgentServices, createSessions, openAgents, openSkills } from "./agents.ts";
import { createStorage, openDeployments } from "./deployments.ts";
import { openExecution } from "./execution.ts";
import { describeLimits, type ExternalDeps, type Foundation, openFoundation } from "./foundation.ts";
import { type IdentityServiceDeps, type IdentityServices, openIdentityServices } from "./identity.ts";
import { openKnowledge } from "./knowledge.ts";
import { chooseReadinessChecks } from "./readiness.ts";

/** How long a DELETE waits for the teardown of an app, in milliseconds. */
const TEARDOWN_WAIT_MS = 10_000;
/** How long a call that changes a variable waits until the app has restarted, in milliseconds. */
const RESTART_WAIT_MS = 10_000;

/** Each read of a database copies it and starts a process, or needs a connection. */
const DATABASE_READS = { running: 4, runningPerKey: 1, waiting: 40, waitingPerKey: 6, waitMs: 20_000 };

/** The opened service, without the HTTP server and the worker that use it. */
export interface OpenServices extends IdentityServices, Pick<AgentServices, "serverMonitor"> {
  service: Service;
  /** For the worker, which runs deployments. */
  deploymentDeps: DeploymentDeps;
  /** For the worker, which embeds texts; `null` when no endpoint is configured. */
  embeddings: Embeddings | null;
  /** For the worker, which measures what apps store. */
  storageDeps: EnforceDeps;
  /** For the worker, which determines the apps that are always on. */
  alwaysOnDeps: AlwaysOnDeps;
  readiness: ReadinessChecks;
  readinessDetails: ReadinessDetails;
  orm: Orm;
  /** Shares the connections of the ORM. */
  connections: ConnectionPool;
  db: Db;
  boss: PgBoss;
  /** Closes everything in the opposite order. */
  close(): Promise<void>;
}

/** The composition root: opens a driver for every port according to the configuration. */
export async function openServices(config: Config, log: Logger, external: ExternalDeps): Promise<OpenServices> {
  await using opening = new AsyncDisposableStack();
  const foundation = await openFoundation(config, log, external, opening);
  const { controlGroups, database, queue, edge } = foundation;
  const { deployments, deploymentDeps, diskProblem } = await openDeployments(foundation, opening);
  const { serverMonitor, ...agents } = openAgents(foundation, opening);
  const { embeddings, ...knowledge } = await openKnowledge(foundation);
  const service: Service = {
    ...createBase(foundation, opening),
    ...deployments,
    ...agents,
    ...createSessions(foundation),
    ...(await openSkills(foundation, deploymentDeps.git)),
    ...knowledge,
    ...(await openExecution(foundation, opening)),
    isRestoredCopy: edge.installation.state === "restored",
  };
  const identity = openIdentityServices(toIdentityDeps(foundation), opening);
  const opened = opening.move();
  return {
    service,
    deploymentDeps,
    embeddings,
    storageDeps: createStorage(foundation),
    alwaysOnDeps: { db: database.db, plans: foundation.plans, alwaysOn: edge.alwaysOn },
    serverMonitor,
    ...identity,
    readiness: chooseReadinessChecks(foundation),
    readinessDetails: { sandbox_limits: describeLimits(controlGroups, diskProblem) },
    orm: database.orm,
    connections: database.connections,
    db: database.db,
    boss: queue.boss,
    close: () => opened.disposeAsync(),
  };
}

/** The parts of the service that most operations use, and those of apps. */
function createBase(
  {
    config,
    database,
    edge,
    external,
    log,
    plans,
    queue,
    shared,
    tokenSecret,
    usageCounter,
    variableCipher,
  }: Foundation,
  opening: AsyncDisposableStack,
) {
  const { em, db } = database;
  const { jobs } = queue;
  const { counter, callCounter, changes, accessChanges } = shared;
  return {
    ...{ em, db, jobs, plans, counter, callCounter, changes, accessChanges, tokenSecret, usageCounter, variableCipher },
    authEntries: edge.authEntries,
    urlOf: edge.urlOf,
    eventTails: opening.use(new EventTails(shared.events)),
    appDatabases: edge.appDatabases,
    appEntries: edge.appEntries,
    databaseReads: new FairQueue(DATABASE_READS, "Other databases are being read. Try again in a few seconds."),
    runtimeLogs: edge.runtimeLogs,
    runtimeLogTails: opening.use(new ReferenceCountedInstances<RuntimeLogTail>()),
    buildEgress: config.buildEgress.isPublic ? "public" : "none",
    gitBaseUrl: config.gitBaseUrl,
    gitPollSeconds: config.gitPollSeconds,
    publicUrl: () => external.publicUrl(),
    pushSecretCipher: new ValueCipher(tokenSecret, "push-endpoints"),
    appListVersions: new AppListVersions(db),
    teardownWaitMs: TEARDOWN_WAIT_MS,
    restartWaitMs: RESTART_WAIT_MS,
    hideProcedures,
    renameInIndex,
    prepareVariables: (variables) => prepareVariables(variableCipher, variables),
    enqueueDeployment: (tx, deployment) => enqueueDeployment(tx, jobs, deployment),
    reportInternalError: (err, what) => log.error({ err }, what),
  } satisfies Partial<Service>;
}

function toIdentityDeps({ database, config, log, shared, external, tokenSecret }: Foundation): IdentityServiceDeps {
  const { counter, accessChanges } = shared;
  const clientMetadataFetcher = external.clientMetadata ?? new HttpsMetadataFetcher();
  const { publicUrl } = external;
  return { orm: database.orm, config, log, counter, accessChanges, clientMetadataFetcher, tokenSecret, publicUrl };
}
