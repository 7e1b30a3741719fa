import path from "node:path";
import type { ManagedServer } from "../../domain/agents/open-host.ts";
import { ServerMonitor } from "../../domain/agents/server-monitor.ts";
import { ManagedHost } from "../../domain/managed-agents/managed-host.ts";
import type { GitSource } from "../../domain/ports/git-source.ts";
import { FairQueue } from "../../domain/shared/fair-queue.ts";
import { KeyedLock } from "../../domain/shared/keyed-lock.ts";
import { ValueCipher } from "../../domain/shared/value-cipher.ts";
import { CheckoutLimiter } from "../../domain/skills/checkout-limiter.ts";
import type { Service } from "../../routers/core/context.ts";
import { OpenClawHosts } from "../drivers/agent-host/openclaw/openclaw-hosts.ts";
import { ZipReader } from "../drivers/archive-reader/zip-reader.ts";
import { FilesystemSpool } from "../drivers/spool/filesystem.ts";
import { FilesystemTemporaryWorkspaces } from "../drivers/temporary-workspaces/filesystem.ts";
import { PostgresTranscriptSearch } from "../drivers/transcript-search/postgres-transcript-search.ts";
import { ThreadYamlParser } from "../drivers/yaml-parser/thread-yaml-parser.ts";
import { TextWorkerPool } from "../text-workers/text-worker-pool.ts";
import type { Foundation } from "./foundation.ts";

type AgentParts = Pick<
  Service,
  "agentWorkspaces" | "gatewayUrl" | "hosts" | "instructionLock" | "managedHost" | "serverChanges" | "tokenCipher"
>;

export interface AgentServices extends AgentParts {
  /** For the worker, which keeps the connections to gateways. */
  serverMonitor: ServerMonitor;
}

/** Opens the part of the service for servers, agents and their hosts. */
export function openAgents(foundation: Foundation, opening: AsyncDisposableStack): AgentServices {
  const { config, database, shared, external, tokenSecret, agentWorkspaces, log } = foundation;
  const { em, db } = database;
  const { accessChanges, serverChanges } = shared;
  const hosts = opening.use(
    new OpenClawHosts({
      textWorkers: opening.use(new TextWorkerPool({ threads: 1 })),
      networks: config.agentHostNetworks,
      ports: config.agentHostPorts,
      tokenSecret,
      report: (err) => log.warn({ err }, "a gateway of agents cannot be reached for an unexpected reason"),
    }),
  );
  const tokenCipher = new ValueCipher(tokenSecret, "agent-servers");
  const managedHost = (server: ManagedServer) => new ManagedHost({ em, db }, server);
  const parts = { hosts, agentWorkspaces, tokenCipher, serverChanges };
  const report = (err: unknown, serverId: string): void =>
    log.warn({ err, serverId }, "the agents of a server could not be stored; they are listed again later");
  return {
    ...parts,
    managedHost,
    instructionLock: new KeyedLock(),
    gatewayUrl: () => `${external.publicUrl()}/mcp`,
    serverMonitor: new ServerMonitor({ ...parts, em, db, accessChanges, report }),
  };
}

type SessionParts = Pick<Service, "imports" | "spool" | "transcriptSearch" | "uploads">;

/** Files that arrive do not wait for each other: those beyond the limits are rejected. */
const UPLOADS = { running: 64, runningPerKey: 16, waiting: 0 };
const IMPORTS = { running: 4, runningPerKey: 2, waiting: 60, waitingPerKey: 14, waitMs: 300_000 };
const BUSY = "The service is importing other transcripts. Try again in a few seconds.";

export function createSessions({ config, database }: Foundation): SessionParts {
  return {
    spool: new FilesystemSpool(path.join(config.dataDirectory, "imports")),
    uploads: new FairQueue(UPLOADS, BUSY),
    imports: new FairQueue(IMPORTS, BUSY),
    transcriptSearch: new PostgresTranscriptSearch(database.em),
  };
}

type SkillParts = Pick<Service, "archives" | "checkouts" | "git" | "workspaces" | "yaml">;

/** Opens the part of the service for skills, and removes the checkouts of an earlier process. */
export async function openSkills({ config, startProcess }: Foundation, git: GitSource): Promise<SkillParts> {
  const workspaces = new FilesystemTemporaryWorkspaces(
    path.join(config.dataDirectory, "skill-checkouts"),
    null,
    startProcess,
  );
  await workspaces.clear();
  return { yaml: new ThreadYamlParser(), archives: new ZipReader(), git, workspaces, checkouts: new CheckoutLimiter() };
}
