import type { Client } from "../../sdk/src/client.ts";
import { CliError } from "./cli-error.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the id of an agent by its id, its name, or the name of the server whose main agent it is, if only one has it. */
export async function resolveAgentId(client: Client, agent: string, signal: AbortSignal): Promise<string> {
  if (UUID.test(agent)) return agent.toLowerCase();
  const named: string[] = [];
  const mainOfServer: string[] = [];
  let cursor: string | undefined;
  do {
    const request = { limit: 100, ...(cursor !== undefined && { cursor }) };
    const page = await client.servers.list(request, { signal });
    for (const server of page.servers) {
      const agents = [server.agent, ...server.agent.specialized_agents];
      named.push(...agents.filter(({ name }) => name === agent).map(({ agent_id: id }) => id));
      if (server.name === agent) mainOfServer.push(server.agent.agent_id);
    }
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  const found = named.length > 0 ? named : mainOfServer;
  const [only, ...others] = found;
  if (only === undefined) throw new CliError(`There is no agent "${agent}". List all agents with: svc agents list`);
  if (others.length === 0) return only;
  throw new CliError(`Several agents have the name "${agent}". Use an id: ${found.join(", ")}`);
}
