import type { AddressInfo } from "node:net";
import path from "node:path";
import { type CreatedOrganization, createOrganization } from "../../domain/organizations/create-organization.ts";
import { isFirstRun } from "../../domain/organizations/first-run.ts";
import { Organization } from "../../domain/organizations/organization.entity.ts";
import type { AppBuilder } from "../../domain/ports/app-builder-agent.ts";
import type { PublicFiles } from "../../domain/ports/public-files.ts";
import { inLockedTransaction } from "../../domain/shared/transaction.ts";
import { createHttpServer } from "../app.ts";
import type { Config } from "../config.ts";
import type { EmbeddedPostgres } from "../database/embedded/embedded-postgres.ts";
import type { Orm } from "../database/orm.ts";
import { replaceFile } from "../files/durable-files.ts";
import type { ClientMetadataFetcher } from "../ports/client-metadata.ts";
import type { Logger } from "../telemetry/logger.ts";
import { Worker } from "../worker/worker.ts";
import { toReachableHost } from "./edge.ts";
import { type OpenServices, openServices } from "./open-services.ts";

export interface RunningService {
  publicUrl: string;
  /** The port of the control plane. */
  port: number;
  /** The opened services, for tests and benchmarks. */
  parts: OpenServices;
  /** The tokens of the organization that this start created; `null` when an organization existed already. */
  bootstrapped: CreatedOrganization | null;
  /** Whether nobody has signed up yet. */
  isFirstRun: boolean;
  /** Whether this is a restored copy that has not taken over: it runs no jobs and changes nothing. */
  isRestoredCopy: boolean;
  /** From now on the process is not ready, and each connection closes after its next response. It serves requests until it stops. */
  drain(): void;
  /** Finishes requests, returns running deployments to the queue, stops every app, and leaves no child process. */
  stop(): Promise<void>;
}

export interface ServiceOptions {
  /**
   * Whether this process runs deployments and teardowns from the queue; by default it does with the role `worker`. Without it, this process
   * does not lock the database.
   */
  worker?: boolean;
  /** Called when another process has taken the database from this one. This process must then stop. */
  onDatabaseTaken?: (error: Error) => void;
  /** Called when a restored copy has taken over what is outside of the data folder. This process must then stop. */
  onTakenOver?: (error: Error) => void;
  /** The agent that customizes apps; by default the one of the configured model. */
  appBuilder?: AppBuilder | null | undefined;
  /** Fetches the metadata that OAuth clients publish; by default from the public web. */
  clientMetadata?: ClientMetadataFetcher | undefined;
  /** Reads URLs as sources of Company Knowledge; by default from the public web. */
  publicFiles?: PublicFiles | undefined;
  /** The embedded PostgreSQL, if its start has begun already. */
  embeddedDatabase?: Promise<EmbeddedPostgres> | undefined;
}

export const TAKEN_OVER = "a restored copy of this installation has taken over";
export const DATABASE_TAKEN = "another process of this service has taken the database";

function logFatal(log: Logger, message: string): (err: Error) => void {
  return (err) => log.fatal({ err }, message);
}

/** Starts the service with the given configuration. When this returns, the service accepts requests. */
export async function startService(config: Config, log: Logger, options: ServiceOptions = {}): Promise<RunningService> {
  // Each part stops in the opposite order, even if another one fails: requests that wait for a teardown need the worker.
  await using starting = new AsyncDisposableStack();
  let publicUrl = config.publicUrl;
  const { roles } = config;
  const { worker: runsWorker = roles.has("worker") } = options;
  const draining = new AbortController();
  const parts = await openServices(config, log, {
    appBuilder: options.appBuilder,
    clientMetadata: options.clientMetadata,
    publicFiles: options.publicFiles,
    embeddedDatabase: options.embeddedDatabase,
    // The files of the apps are in the data folder of one process.
    onDatabaseTaken:
      options.worker !== false && roles.has("edge") ? (options.onDatabaseTaken ?? logFatal(log, DATABASE_TAKEN)) : null,
    onTakenOver: options.onTakenOver ?? logFatal(log, TAKEN_OVER),
    draining: draining.signal,
    publicUrl: () => publicUrl ?? "",
  });
  starting.defer(() => parts.close());
  const worker = createWorker(config, log, parts);
  starting.defer(() => worker.stop());
  const bootstrapped =
    config.production || !roles.has("api")
      ? null
      : await bootstrapOrganization(parts.orm, config.dataDirectory, config.defaultPlan);
  const server = await createHttpServer({
    ...parts,
    roles,
    signIn: config,
    trustedProxies: config.trustedProxies,
    log,
    draining: draining.signal,
    publicUrl: () => publicUrl ?? "",
  });
  starting.defer(() => server.close());
  await server.listen({ host: config.host, port: config.port });
  const { port } = server.server.address() as AddressInfo;
  publicUrl ??= `http://${urlHost(config.host)}:${port}`;
  const { isRestoredCopy } = parts.service;
  if (runsWorker && !isRestoredCopy) await worker.start();
  const isUnclaimed = !config.production && (await isFirstRun(parts.db));
  const started = starting.move();
  const drain = () => draining.abort();
  const stop = () => {
    drain();
    return started.disposeAsync();
  };
  return { publicUrl, port, parts, bootstrapped, isFirstRun: isUnclaimed, isRestoredCopy, drain, stop };
}

function createWorker(config: Config, log: Logger, parts: OpenServices): Worker {
  const { boss, db, service, deploymentDeps, embeddings, storageDeps, alwaysOnDeps, serverMonitor } = parts;
  return new Worker({
    boss,
    deps: deploymentDeps,
    storage: storageDeps,
    alwaysOn: alwaysOnDeps,
    servers: { monitor: serverMonitor, changes: service.serverChanges },
    sources: service,
    pushes: service,
    db,
    embeddings,
    agentWorkspaces: service.agentWorkspaces,
    transcriptSearch: service.transcriptSearch,
    log,
    buildConcurrency: config.buildConcurrency,
    leadership: config.databaseUrl !== null && config.isOneOfSeveral ? { url: config.databaseUrl } : null,
    retention: { auditDays: config.auditRetentionDays },
  });
}

function urlHost(host: string): string {
  const address = toReachableHost(host);
  return address.includes(":") ? `[${address}]` : address;
}

/**
 * On an empty database, creates the first organization, its owner and their tokens, and writes them to `bootstrap.json` in
 * the data folder (mode 0600). The file is written before the transaction commits. After a crash in between, the next start
 * creates them again, so there is never an organization whose tokens are lost. Of processes that start at the same time, one creates them.
 *
 * @returns `null` when an organization exists
 */
async function bootstrapOrganization(
  orm: Orm,
  dataDirectory: string,
  plan: string,
): Promise<CreatedOrganization | null> {
  return inLockedTransaction(orm.em, ["first-organization"], async (em) => {
    if ((await em.count(Organization)) > 0) return null;
    const bootstrapped = await createOrganization(em, { name: "My organization", email: null, plan });
    await replaceFile(path.join(dataDirectory, "bootstrap.json"), `${JSON.stringify(bootstrapped, null, 2)}\n`, 0o600);
    return bootstrapped;
  });
}
