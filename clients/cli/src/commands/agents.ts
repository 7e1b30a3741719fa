import type { Command } from "commander";
import { connect, type Context } from "../context.ts";
import { listServers } from "../list-servers.ts";
import type { Output } from "../output.ts";
import { renderList, renderValue } from "../render-value.ts";

export function defineAgentCommands(agents: Command, context: () => Context): void {
  agents
    .command("list")
    .summary("List your agents")
    .description("Lists the servers with their main agents and their specialized agents.")
    .action(() => listAgents(context()));
  agents
    .command("provision")
    .summary("Create an agent, and show its gateway token")
    .description("Creates a server with a main agent, or with --server a specialized agent of an existing server.")
    .argument("<name>", "a name for the server or the agent")
    .option("--server <id>", "the id of the server of a specialized agent")
    .action((name: string, options: { server?: string }) => provisionAgent(context(), name, options.server));
}

async function listAgents(context: Context): Promise<void> {
  const { output, signal } = context;
  const client = await connect(context, "Reading the agents …");
  const servers = await listServers(client, signal);
  const rows = servers.flatMap((server) =>
    [server.agent, ...server.agent.specialized_agents].map(({ name, agent_id }) => ({
      agent: name,
      server: server.name,
      status: server.status,
      agent_id,
    })),
  );
  output.value({ servers, next_cursor: null }, (width) => renderList("agents", rows, width));
  if (rows.length === 0) output.message("No agents. Create one with: svc agents provision NAME");
}

async function provisionAgent(context: Context, name: string, serverId: string | undefined): Promise<void> {
  const { output, signal } = context;
  const client = await connect(context, `Creating ${name} …`);
  if (serverId === undefined) {
    const server = await client.servers.create({ name }, { signal });
    showProvisioned(output, server, { server_id: server.server_id, ...server.agent });
  } else {
    const agent = await client.agents.create({ server_id: serverId, name }, { signal });
    showProvisioned(output, agent, agent);
  }
}

interface ProvisionedAgent {
  agent_id: string;
  server_id: string;
  gateway_token?: string;
}

function showProvisioned(
  output: Output,
  created: object,
  { agent_id, server_id, gateway_token }: ProvisionedAgent,
): void {
  output.value(created, (width) => renderValue({ agent_id, server_id, gateway_token }, width));
  output.message("Store the gateway token now. The service does not show it again.");
  if (!output.json) output.message("With --json, the output also has the configurations of clients.");
}
