import { z } from "zod";
import type { AgentView } from "../domain/agents/agent-view.ts";
import type { CreateAgent, ProvisionedAgent } from "../domain/agents/create-agent.ts";
import type { CreateServer, ProvisionedServer } from "../domain/agents/create-server.ts";
import type { ServerPage } from "../domain/agents/list-servers.ts";
import { SERVER_KINDS, SERVER_STATUSES } from "../domain/agents/server-status.ts";
import type { UpdateAgent } from "../domain/agents/update-agent.ts";
import type { UpdatedServer, UpdateServer } from "../domain/agents/update-server.ts";
import type { AgentDetail } from "../domain/agents/get-agent.ts";
import { timestamp } from "./core/common.schema.ts";

const EXAMPLE_ID = "5b0f5a3e-5f0b-4a57-9a3c-6a1f8b1c2d3e";
const serverId = z.uuid().meta({ description: "The server's id", examples: [EXAMPLE_ID] });
const agentIdField = z.uuid().meta({ description: "The agent's id", examples: [EXAMPLE_ID] });
const name = z.string().meta({ description: "One line of 1 to 100 characters", examples: ["Support"] });
const model = z.string().meta({ description: "The agent's language model", examples: ["claude-sonnet-5"] });

/** Descriptions are short, because an agent reads them with every list of the tools. */
const agent = {
  agent_id: z.string(),
  name: z.string(),
  model: z.string().nullable(),
};

const specializedAgent = z.object(agent).meta({ id: "Agent" }) satisfies z.ZodType<AgentView>;

const connection = {
  kind: z.enum(SERVER_KINDS),
  url: z.string().nullable(),
  status: z.enum(SERVER_STATUSES),
  status_since: z.string(),
  status_message: z.string().nullable(),
};

const server = { server_id: z.string(), name: z.string(), ...connection };

const agentServer = z
  .object({ ...server, agent: z.object({ ...agent, specialized_agents: z.array(specializedAgent) }) })
  .meta({ id: "AgentServer" });

const page = {
  limit: z.int().min(1).max(100).default(50).meta({ description: "Maximum number of servers to return" }),
  cursor: z.string().max(200).optional().meta({ description: "next_cursor of the previous page" }),
};

/** Numbers of a query are text. */
export const listServersRequest = z.strictObject({
  ...page,
  limit: z.int().min(1).max(100).default(50).meta({ description: "Maximum number of servers" }),
});

export const listAgentsToolRequest = z.strictObject(page);

export const serverPage = z
  .object({ servers: z.array(agentServer), next_cursor: z.string().nullable() })
  .meta({ id: "ListServersResponse" }) satisfies z.ZodType<ServerPage>;

const clientConfiguration = z.object({
  file: z.string().meta({ description: "Where the client reads it", examples: [".mcp.json"] }),
  content: z.string().meta({ description: "The content of the file, which contains the token" }),
});

const provisioned = {
  gateway_token: z.string().meta({ description: "The agent's token for the tool gateway. Only this response has it" }),
  client_configurations: z
    .object({
      claude_code: clientConfiguration,
      codex: clientConfiguration,
      openclaw: clientConfiguration,
      generic: clientConfiguration,
    })
    .meta({ description: "What connects the agent's client to the tool gateway" }),
};

const url = z
  .string()
  .meta({ description: "The WebSocket URL of an OpenClaw gateway", examples: ["wss://gateway.example.com"] });
const token = z
  .string()
  .meta({ description: "The token of the gateway. It is stored encrypted, and no response has it" });

export const createServerRequest = z
  .strictObject({
    name,
    kind: z.enum(SERVER_KINDS).optional().meta({ description: "`managed` by default" }),
    url: url.optional(),
    token: token.optional(),
    agent_name: name.optional(),
    model: model.optional(),
  })
  .meta({ id: "CreateServerRequest" }) satisfies z.ZodType<CreateServer>;

export const provisionedServer = z
  .object({
    ...server,
    agent: z.object({ ...agent, specialized_agents: z.array(specializedAgent), ...provisioned }),
  })
  .meta({ id: "CreateServerResponse" }) satisfies z.ZodType<ProvisionedServer>;

export const updateServerRequest = z
  .strictObject({ id: serverId, name: name.optional(), url: url.optional(), token: token.optional() })
  .meta({ id: "UpdateServerRequest" }) satisfies z.ZodType<UpdateServer>;

export const updatedServer = z
  .object({ server_id: z.string(), name: z.string(), ...connection })
  .meta({ id: "UpdateServerResponse" }) satisfies z.ZodType<UpdatedServer>;

export const serverRequest = z.strictObject({ id: serverId });

export const createAgentRequest = z
  .strictObject({ server_id: serverId, name, model: model.optional() })
  .meta({ id: "CreateAgentRequest" }) satisfies z.ZodType<CreateAgent>;

export const provisionedAgent = z
  .object({ ...agent, server_id: z.string(), ...provisioned })
  .meta({ id: "CreateAgentResponse" }) satisfies z.ZodType<ProvisionedAgent>;

export const updateAgentRequest = z
  .strictObject({ id: agentIdField, name: name.optional(), model: model.nullable().optional() })
  .meta({ id: "UpdateAgentRequest" }) satisfies z.ZodType<UpdateAgent>;

export const updatedAgent = z.object({ ...agent, server_id: z.string() }).meta({ id: "UpdateAgentResponse" });

export const agentDetail = z
  .object({
    ...agent,
    server_id: z.string(),
    server_name: z.string(),
    server_kind: z.enum(SERVER_KINDS),
    is_main: z.boolean(),
    created_at: timestamp,
  })
  .meta({ id: "AgentDetail" }) satisfies z.ZodType<AgentDetail>;

export const agentRequest = z.strictObject({ id: agentIdField });
