import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { Plans } from "../../domain/plans/plans.ts";
import type { AgentWorkspaces } from "../../domain/ports/agent-workspaces.ts";
import type { AppBuilder } from "../../domain/ports/app-builder-agent.ts";
import type { ObjectStore } from "../../domain/ports/object-store.ts";
import type { PublicFiles } from "../../domain/ports/public-files.ts";
import type { UsageCounter } from "../../domain/usage/usage-counter.ts";
import { LastKnownVariables } from "../../domain/variables/last-known-variables.ts";
import { StoredVariables } from "../../domain/variables/stored-variables.ts";
import { VariableCipher } from "../../domain/variables/variable-cipher.ts";
import type { Config } from "../config.ts";
import { ConfigError } from "../config/config-error.ts";
import { tokenSecretFile } from "../config/token-secret.ts";
import { importFolder } from "../drivers/agent-workspaces/import-folder.ts";
import { StoredAgentWorkspaces } from "../drivers/agent-workspaces/stored-agent-workspaces.ts";
import { WorkspaceRecords } from "../drivers/agent-workspaces/workspace-records.ts";
import { replaceFile } from "../files/durable-files.ts";
import { nullIfMissing } from "../files/missing-file.ts";
import type { ReadinessDetails } from "../http/health.ts";
import type { Installation } from "../installation/installation.ts";
import type { ClientMetadataFetcher } from "../ports/client-metadata.ts";
import type { ControlGroups } from "../sandbox/cgroups/control-groups.ts";
import type { OwnGroups } from "../sandbox/cgroups/find-hierarchies.ts";
import { openControlGroups } from "../sandbox/cgroups/open-control-groups.ts";
import { ForkServer } from "../sandbox/fork-server/fork-server.ts";
import type { StartProcess } from "../sandbox/start-process.ts";
import type { Logger } from "../telemetry/logger.ts";
import { TextWorkerPool } from "../text-workers/text-worker-pool.ts";
import {
  type DatabaseDeps,
  type DatabaseServices,
  type JobQueueServices,
  openDatabaseServices,
  openJobQueue,
} from "./database.ts";
import { type EdgeServices, openEdge } from "./edge.ts";
import { openOwnObjectStore } from "./object-store.ts";
import { openSharedState, openUsageCounter, type SharedState } from "./shared-state.ts";

/** Dependencies that the configuration does not choose. Tests replace them. */
export interface ExternalDeps extends DatabaseDeps {
  /** The app builder agent of a test; by default the configured one. */
  appBuilder?: AppBuilder | null | undefined;
  /** Fetches the metadata that OAuth clients publish; by default from the public web. */
  clientMetadata?: ClientMetadataFetcher | undefined;
  /** Reads URLs as sources of Company Knowledge; by default from the public web. */
  publicFiles?: PublicFiles | undefined;
  /** Called when a restored copy has taken over what is outside of the data folder. This process must then stop. */
  onTakenOver(error: Error): void;
  /** Aborted when the process is about to stop. */
  draining: AbortSignal;
  /** Known once the server listens. */
  publicUrl(): string;
}

/** The open drivers and settings that several capabilities share. */
export interface Foundation {
  config: Config;
  log: Logger;
  external: ExternalDeps;
  tokenSecret: string;
  plans: Plans;
  database: DatabaseServices;
  queue: JobQueueServices;
  shared: SharedState;
  /** The groups through which the kernel limits builds, apps and programs. */
  controlGroups: ControlGroups;
  /** Starts the processes of builds and programs. */
  startProcess: StartProcess;
  /** The variables of apps. */
  variables: StoredVariables;
  /** Encrypts the values of variables. */
  variableCipher: VariableCipher;
  usageCounter: UsageCounter;
  edge: EdgeServices;
  objects: ObjectStore;
  agentWorkspaces: AgentWorkspaces;
  /** Processes texts from outside in worker threads. */
  textWorkers: TextWorkerPool;
}

/** Opens what several capabilities share. `opening` closes it in the opposite order. */
export async function openFoundation(
  config: Config,
  log: Logger,
  external: ExternalDeps,
  opening: AsyncDisposableStack,
): Promise<Foundation> {
  const database = await openDatabaseServices(config, log, external, opening);
  const queue = await openJobQueue(database, log, opening);
  const shared = await openSharedState(config, database, log, opening);
  const secret = await loadTokenSecret(config.tokenSecret, config.dataDirectory);
  const controlGroups = opening.use(await openSandboxGroups(log));
  const { start: startProcess } = opening.use(new ForkServer());
  const variableCipher = new VariableCipher(secret);
  const variables = new StoredVariables(database.db, variableCipher);
  // Before the edge, so that the last requests are counted too.
  const usageCounter = openUsageCounter(database, log, opening);
  const lastVariables = new LastKnownVariables(variables);
  const { draining, onTakenOver } = external;
  const edgeShared = { counter: shared.counter, usageCounter, tokenSecret: secret, log, em: database.em };
  const edgeDeps = { controlGroups, startProcess, variables: lastVariables, draining, onTakenOver, ...edgeShared };
  const edge = await openEdge(config, edgeDeps, opening);
  // The edge platform has locked the data folder by now, so no other process uses its files.
  const { installation } = edge;
  const objects = await openOwnObjectStore(config, { installation, onTakenOver: external.onTakenOver }, opening);
  return {
    config,
    log,
    external,
    tokenSecret: secret,
    plans: new Plans(config.plans, config.defaultPlan),
    database,
    queue,
    shared,
    controlGroups,
    startProcess,
    variables,
    variableCipher,
    usageCounter,
    edge,
    objects,
    agentWorkspaces: await openAgentWorkspaces(config, database, objects, { log, installation }),
    textWorkers: opening.use(new TextWorkerPool()),
  };
}

/** Opens the files of agents. Those that an earlier version stored in the data folder are moved to the object store. */
async function openAgentWorkspaces(
  { dataDirectory, databaseUrl }: Config,
  { em }: DatabaseServices,
  objects: ObjectStore,
  { log, installation }: { log: Logger; installation: Installation },
): Promise<AgentWorkspaces> {
  const records = new WorkspaceRecords(em);
  // No other process uses the embedded database, so these are leases of a process that was killed.
  if (databaseUrl === null) await records.releaseAll();
  const workspaces = new StoredAgentWorkspaces({ objects, records });
  if (installation.state !== "active") return workspaces;
  const archives = await importFolder(path.join(dataDirectory, "agent-workspaces"), objects, records);
  if (archives > 0) log.info({ archives }, "the files of agents were moved from the data folder to the object store");
  return workspaces;
}

const MIN_LENGTH = 32;

/**
 * Returns the configured secret, or without one the secret in the data folder. The first start generates it.
 *
 * @throws {ConfigError} when the stored secret is damaged
 */
async function loadTokenSecret(configured: string | null, dataDirectory: string): Promise<string> {
  if (configured !== null) return configured;
  const file = tokenSecretFile(dataDirectory);
  const stored = (await readFile(file, "utf8").catch(nullIfMissing))?.trim();
  if (stored !== undefined && stored.length >= MIN_LENGTH) return stored;
  // A new secret would change the token of every app, which only the operator may decide.
  if (stored !== undefined)
    throw new ConfigError(`${file} is damaged. Restore it from a backup, or remove it to change every app token.`);
  const generated = randomBytes(32).toString("hex");
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  await replaceFile(file, `${generated}\n`, 0o600);
  return generated;
}

/** The methods of a logger that report the limits. */
interface LimitsLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/**
 * Opens the control groups, and logs what the kernel does not limit on this host.
 *
 * @param own - the groups of this process; by default those that the kernel names
 */
export async function openSandboxGroups(log: LimitsLog, own?: OwnGroups): Promise<ControlGroups> {
  const groups = await openControlGroups(own);
  const { version, controllers, problem } = groups;
  if (problem === null) log.info({ version, controllers }, "the kernel limits sandboxes with control groups");
  else
    log.warn(
      { version, controllers, problem },
      "the kernel does not limit all resources of sandboxes; see docs/operations.md, Limits of the kernel",
    );
  return groups;
}

/** What the kernel limits on this host, and why not more, for operators. */
export function describeLimits(
  { version, controllers, problem }: ControlGroups,
  diskProblem: string | null,
): ReadinessDetails["sandbox_limits"] {
  return { cgroups: version, controllers, problem, disk: diskProblem === null, disk_problem: diskProblem };
}
