import { ServiceError } from "../shared/errors.ts";

export interface AgentView {
  agent_id: string;
  name: string;
  /** `null` when it is not known. */
  model: string | null;
}

/** A server with its main agent. */
export interface ServerView {
  server_id: string;
  name: string;
  /** Whether the agents of the server can be reached. The service itself hosts a managed server, which always can. */
  status: "ready";
  agent: AgentView & { specialized_agents: AgentView[] };
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
