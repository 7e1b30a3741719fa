import path from "node:path";
import type { AgentWorkspaces } from "../../domain/ports/agent-workspaces.ts";
import type { AppBuilder } from "../../domain/ports/app-builder-agent.ts";
import type { ClientMetadataFetcher } from "../ports/client-metadata.ts";
import { Plans } from "../../domain/plans/plans.ts";
import { LastKnownVariables } from "../../domain/variables/last-known-variables.ts";
import { StoredVariables } from "../../domain/variables/stored-variables.ts";
import { VariableCipher } from "../../domain/variables/variable-cipher.ts";
import type { UsageCounter } from "../../domain/usage/usage-counter.ts";
import type { Config } from "../config.ts";
import { FilesystemAgentWorkspaces } from "../drivers/agent-workspaces/filesystem.ts";
import type { ControlGroups } from "../sandbox/cgroups/control-groups.ts";
import { ForkServer } from "../sandbox/fork-server/fork-server.ts";
import type { StartProcess } from "../sandbox/start-process.ts";
import { loadTokenSecret } from "./token-secret.ts";
import { TextWorkerPool } from "../text-workers/text-worker-pool.ts";
import type { Logger } from "../telemetry/logger.ts";
import { type DatabaseDeps, type DatabaseServices, openDatabaseServices } from "./database.ts";
import { type EdgeServices, openEdge } from "./edge.ts";
import { type JobQueueServices, openJobQueue } from "./job-queue.ts";
import { openSandboxGroups } from "./sandbox-limits.ts";
import { openUsageCounter } from "./usage-counter.ts";
import { openSharedState, type SharedState } from "./shared-state.ts";

/** Dependencies that the configuration does not choose. Tests replace them. */
export interface ExternalDeps extends DatabaseDeps {
  /** `null` when no app builder agent is configured. */
  appBuilder: AppBuilder | null;
  /** Fetches the metadata that OAuth clients publish; by default from the public web. */
  clientMetadata?: ClientMetadataFetcher | undefined;
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
  const edgeDeps = { controlGroups, variables: new LastKnownVariables(variables), usageCounter, log };
  const edge = await openEdge(config, edgeDeps, opening);
  // The edge platform has locked the data folder by now, so no other process uses these files.
  const agentWorkspaces = await FilesystemAgentWorkspaces.open(path.join(config.dataDirectory, "agent-workspaces"));
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
    agentWorkspaces,
    textWorkers: opening.use(new TextWorkerPool()),
  };
}
