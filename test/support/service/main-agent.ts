import type { RestClient } from "../clients/rest-client.ts";

export interface ListedServer {
  server_id: string;
  name: string;
  kind: string;
  url: string | null;
  status: string;
  status_since: string;
  status_message: string | null;
  agent: ListedAgent & { specialized_agents: ListedAgent[] };
}

export interface ListedAgent {
  agent_id: string;
  name: string;
  model: string | null;
}

export async function listServers(rest: RestClient): Promise<ListedServer[]> {
  const { body } = await rest.get("/v1/servers");
  return body["servers"] as ListedServer[];
}

/** Returns the id of the main agent of an organization's first server. */
export async function mainAgentId(rest: RestClient): Promise<string> {
  return (await listServers(rest))[0]!.agent.agent_id;
}
