import { GatewayClient } from "../clients/gateway-client.ts";
import type { RestClient } from "../clients/rest-client.ts";
import { listServers } from "./main-agent.ts";

export interface GivenAgent {
  id: string;
  /** Its gateway token. */
  token: string;
  gateway: GatewayClient;
}

/** Creates a specialized agent of an organization's first server. */
export async function givenAgent(publicUrl: string, rest: RestClient, name = "Agent"): Promise<GivenAgent> {
  const [server] = await listServers(rest);
  const { status, body, text } = await rest.post("/v1/agents", { server_id: server?.server_id, name });
  if (status !== 201) throw new Error(`the agent was not created: ${text}`);
  const token = String(body["gateway_token"]);
  return { id: String(body["agent_id"]), token, gateway: new GatewayClient(publicUrl, token) };
}
