import type { Client } from "../../sdk/src/client.ts";
import { CliError } from "./cli-error.ts";
import { isId } from "./ids.ts";
import { listServers } from "./list-servers.ts";

/** Returns the id of an agent by its id, its name, or the name of the server whose main agent it is, if only one has it. */
export async function resolveAgentId(client: Client, agent: string, signal: AbortSignal): Promise<string> {
  if (isId(agent)) return agent.toLowerCase();
  const named: string[] = [];
  const mainOfServer: string[] = [];
  for (const server of await listServers(client, signal)) {
    const agents = [server.agent, ...server.agent.specialized_agents];
    named.push(...agents.filter(({ name }) => name === agent).map(({ agent_id: id }) => id));
    if (server.name === agent) mainOfServer.push(server.agent.agent_id);
  }
  const found = named.length > 0 ? named : mainOfServer;
  const [only, ...others] = found;
  if (only === undefined) throw new CliError(`There is no agent "${agent}". List all agents with: svc agents list`);
  if (others.length === 0) return only;
  throw new CliError(`Several agents have the name "${agent}". Use an id: ${found.join(", ")}`);
}
