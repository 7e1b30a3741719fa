import { ServiceError } from "../shared/errors.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import type { ServerKind, ServerStatus } from "./server-status.ts";

export interface AgentView {
  agent_id: string;
  name: string;
  /** `null` when it is not known. */
  model: string | null;
}

/** Where the agents of a server are, and whether they can be reached. */
export interface ServerConnectionView {
  kind: ServerKind;
  /** Of the gateway; `null` for a managed server. */
  url: string | null;
  status: ServerStatus;
  status_since: string;
  /** Why the agents cannot be reached; `null` when they can. */
  status_message: string | null;
}

/** A server with its main agent. */
export interface ServerView extends ServerConnectionView {
  server_id: string;
  name: string;
  agent: AgentView & { specialized_agents: AgentView[] };
}

/** The columns of a server, as a query or an entity returns them. */
export interface ServerConnectionRow {
  kind: string;
  url?: string | null;
  status: string;
  statusSince: unknown;
  statusMessage?: string | null;
}

export function toConnectionView(row: ServerConnectionRow): ServerConnectionView {
  return {
    kind: row.kind as ServerKind,
    url: row.url ?? null,
    status: row.status as ServerStatus,
    status_since: toIsoTimestamp(row.statusSince),
    status_message: row.statusMessage ?? null,
  };
}

export function toAgentView(agent: { id: string; name: string; model?: string | null }): AgentView {
  return { agent_id: agent.id, name: agent.name, model: agent.model ?? null };
}

/** The same error for an agent that never existed and for any of another organization. */
export function agentNotFound(): ServiceError {
  return new ServiceError("not_found", "Agent not found. service_list_agents lists the agents of the organization.");
}

/** The same error for a server that never existed and for any of another organization. */
export function serverNotFound(): ServiceError {
  return new ServiceError("not_found", "Server not found. service_list_agents lists the servers of the organization.");
}

/** @throws {ServiceError} `conflict` for a server whose agents are in a gateway, which alone stores and changes what they have */
export function checkIsManaged({ kind }: { kind: string }): void {
  if (kind === "managed") return;
  throw new ServiceError(
    "conflict",
    "The agents of this server are in an OpenClaw gateway, with their sessions and skills. Change them there.",
  );
}
