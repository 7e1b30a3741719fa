import type { OpenHostDeps, ManagedServer } from "../../domain/agents/open-host.ts";
import { ServerMonitor } from "../../domain/agents/server-monitor.ts";
import { ManagedHost } from "../../domain/managed-agents/managed-host.ts";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import { KeyedLock } from "../../domain/shared/keyed-lock.ts";
import { ValueCipher } from "../../domain/shared/value-cipher.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { OpenClawHosts } from "../drivers/agent-host/openclaw/openclaw-hosts.ts";
import type { Foundation } from "./foundation.ts";

export interface AgentServices {
  agents: Capabilities["agents"];
  /** For the operations on what agents have, such as sessions and skills. */
  openHostDeps: OpenHostDeps;
  /** For the worker, which keeps the connections to gateways. */
  serverMonitor: ServerMonitor;
  serverChanges: ChangeFeed;
}

export function openAgents(foundation: Foundation, opening: AsyncDisposableStack): AgentServices {
  const { config, database, shared, external, tokenSecret, agentWorkspaces, plans, log } = foundation;
  const { em, db } = database;
  const { accessChanges, serverChanges } = shared;
  const hosts = opening.use(
    new OpenClawHosts({
      networks: config.agentHostNetworks,
      ports: config.agentHostPorts,
      tokenSecret,
      report: (err) => log.warn({ err }, "a gateway of agents cannot be reached for an unexpected reason"),
    }),
  );
  const tokenCipher = new ValueCipher(tokenSecret, "agent-servers");
  const managedHost = (server: ManagedServer) => new ManagedHost({ em, db }, server);
  const openHostDeps: OpenHostDeps = { db, hosts, tokenCipher, managedHost };
  const changes = { em, db, hosts, agentWorkspaces, tokenCipher, accessChanges, serverChanges };
  const report = (err: unknown, serverId: string): void =>
    log.warn({ err, serverId }, "the agents of a server could not be stored; they are listed again later");
  return {
    agents: {
      ...changes,
      plans,
      managedHost,
      instructionLock: new KeyedLock(),
      gatewayUrl: () => `${external.publicUrl()}/mcp`,
    },
    openHostDeps,
    serverMonitor: new ServerMonitor({ ...changes, report }),
    serverChanges,
  };
}
