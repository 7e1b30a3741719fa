import {
  AgentHostError,
  type HostedAgent,
  type HostedAgents,
  MAX_HOSTED_AGENTS,
} from "../../../../domain/ports/agent-host.ts";
import type { GatewayResponse } from "./gateway-schemas.ts";
import { toLine } from "./sanitize-hosted-text.ts";

const MAX_NAME = 100;
const MAX_MODEL = 100;

/** @throws {AgentHostError} for a list that cannot be complete, or is too long */
export function toHostedAgents({ defaultId, agents: listed }: GatewayResponse<"agents.list">): HostedAgents {
  // Agents of other kinds belong to the gateway itself.
  const agents = listed
    .filter(({ kind }) => kind === null || kind === undefined || kind === "agent")
    .map(toHostedAgent);
  const ids = new Set(agents.map(({ id }) => id));
  const [first] = agents;
  if (first === undefined || ids.size < agents.length)
    throw new AgentHostError("invalid_response", "The gateway lists no agent, or one twice.");
  if (agents.length > MAX_HOSTED_AGENTS)
    throw new AgentHostError(
      "unsupported",
      `The gateway has more than ${MAX_HOSTED_AGENTS} agents, the limit of a server.`,
    );
  // Without a default agent, users of the gateway choose one each time.
  const mainId = defaultId === null || defaultId === undefined || defaultId === "" ? first.id : defaultId;
  if (!ids.has(mainId)) throw new AgentHostError("invalid_response", "The gateway does not list its default agent.");
  return { mainId, agents };
}

function toHostedAgent({ id, name, model }: GatewayResponse<"agents.list">["agents"][number]): HostedAgent {
  if (!id.isWellFormed() || id.includes("\0"))
    throw new AgentHostError("invalid_response", "The gateway lists an agent with an invalid id.");
  const primary = toLine(model?.primary, MAX_MODEL);
  return {
    id,
    name: toLine(name, MAX_NAME) || toLine(id, MAX_NAME) || "Agent",
    model: /^[\x21-\x7e]+$/.test(primary) ? primary : null,
  };
}
