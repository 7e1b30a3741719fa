import type { PgBoss } from "pg-boss";
import type { Db } from "../../domain/database-types.ts";
import type { DeploymentDeps } from "../../domain/deployments/run-deployment.ts";
import type { Embeddings } from "../../domain/ports/embeddings.ts";
import type { EnforceDeps } from "../../domain/storage/enforce-storage.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import type { Config } from "../config.ts";
import type { ConnectionPool } from "../database/connection-pool.ts";
import type { Orm } from "../database/orm.ts";
import { HttpsMetadataFetcher } from "../drivers/client-metadata/https-metadata-fetcher.ts";
import type { ReadinessCheck, ReadinessDetails } from "../http/health.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createAgentWorkspaces } from "./agent-workspaces.ts";
import { type AgentServices, openAgents } from "./agents.ts";
import { createApps } from "./apps.ts";
import { createAudit } from "./audit.ts";
import { openDeployments } from "./deployments.ts";
import { createEmbeddings } from "./embeddings.ts";
import { openExecution } from "./execution.ts";
import { type ExternalDeps, type Foundation, openFoundation } from "./foundation.ts";
import { type IdentityServiceDeps, type IdentityServices, openIdentityServices } from "./identity.ts";
import { openKnowledge } from "./knowledge.ts";
import { createMemories } from "./memories.ts";
import { createProcedures } from "./procedures.ts";
import { createRuntimeLogs } from "./runtime-logs.ts";
import { describeLimits } from "./sandbox-limits.ts";
import { createSessions } from "./sessions.ts";
import { openSkills } from "./skills.ts";
import { createStorage } from "./storage.ts";
import { createTokens } from "./tokens.ts";
import { createRateLimits, createUsage } from "./usage.ts";
import { createUsers } from "./users.ts";
import { createVariables } from "./variables.ts";

/** The opened service, without the HTTP server and the worker that use it. */
export interface OpenServices extends IdentityServices, Omit<AgentServices, "agents" | "openHostDeps"> {
  capabilities: Capabilities;
  /** For the worker, which runs deployments. */
  deploymentDeps: DeploymentDeps;
  /** For the worker, which embeds texts; `null` when no endpoint is configured. */
  embeddings: Embeddings | null;
  /** For the worker, which measures what apps store. */
  storageDeps: EnforceDeps;
  readiness: readonly ReadinessCheck[];
  readinessDetails: ReadinessDetails;
  orm: Orm;
  /** Shares the connections of the ORM. */
  connections: ConnectionPool;
  db: Db;
  boss: PgBoss;
  /** Closes everything in the opposite order. */
  close(): Promise<void>;
}

/** The composition root: opens a driver for every port according to the configuration, and creates the capabilities. */
export async function openServices(config: Config, log: Logger, external: ExternalDeps): Promise<OpenServices> {
  await using opening = new AsyncDisposableStack();
  const foundation = await openFoundation(config, log, external, opening);
  const { controlGroups, database, queue, edge } = foundation;
  const procedures = createProcedures(foundation);
  const { deployments, deploymentDeps, diskProblem } = await openDeployments(foundation, opening);
  const { agents, openHostDeps, ...servers } = openAgents(foundation, opening);
  const embeddingServices = createEmbeddings(foundation);
  const knowledge = await openKnowledge(foundation, embeddingServices);
  const capabilities: Capabilities = {
    agents,
    agentWorkspaces: createAgentWorkspaces(foundation),
    apps: createApps(foundation),
    audit: createAudit(foundation),
    deployments,
    execution: await openExecution(foundation, procedures, opening),
    knowledge,
    projects: knowledge,
    memories: createMemories(foundation, embeddingServices),
    ...createUsers(foundation),
    procedures,
    rateLimits: createRateLimits(foundation),
    runtimeLogs: createRuntimeLogs(foundation, opening),
    sessions: createSessions(foundation, openHostDeps),
    skills: await openSkills(foundation, deploymentDeps.git, openHostDeps),
    tokens: createTokens(foundation),
    usage: createUsage(foundation),
    variables: createVariables(foundation),
  };
  const identity = openIdentityServices(toIdentityDeps(foundation), opening);
  const opened = opening.move();
  return {
    capabilities,
    deploymentDeps,
    embeddings: embeddingServices.embeddings,
    storageDeps: createStorage(foundation),
    ...servers,
    ...identity,
    readiness: [database.readiness, queue.readiness, edge.readiness],
    readinessDetails: { sandbox_limits: describeLimits(controlGroups, diskProblem) },
    orm: database.orm,
    connections: database.connections,
    db: database.db,
    boss: queue.boss,
    close: () => opened.disposeAsync(),
  };
}

function toIdentityDeps({ database, config, log, shared, external, tokenSecret }: Foundation): IdentityServiceDeps {
  const { counter, accessChanges } = shared;
  const clientMetadataFetcher = external.clientMetadata ?? new HttpsMetadataFetcher();
  const { publicUrl } = external;
  return { orm: database.orm, config, log, counter, accessChanges, clientMetadataFetcher, tokenSecret, publicUrl };
}
