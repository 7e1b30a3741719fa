import { afterEach, beforeEach, expect } from "vitest";
import { ScriptedGateway } from "../agents/scripted-openclaw-gateway.ts";
import { GatewayClient } from "../clients/gateway-client.ts";
import { nextMillisecond } from "../next-millisecond.ts";
import type { Tenant } from "./harness.ts";
import { type ListedServer, listServers } from "./main-agent.ts";
import { sharedHarness } from "./shared-harness.ts";
import { waitFor } from "../time-limits.ts";

/** An organization with an OpenClaw server, whose agents are `main` and `sales` of a scripted gateway. */
export interface GatewayTenant {
  tenant: Tenant;
  gateway: ScriptedGateway;
  serverId: string;
  mainId: string;
  salesId: string;
  /** The tool gateway with the token of a user. */
  tools: GatewayClient;
  /** Issues a gateway token of an agent. */
  asAgent(agentId: string): Promise<GatewayClient>;
}

/** Starts one service for all tests of a file. Each test has its own organization and gateway. */
export function sharedGateway() {
  const service = sharedHarness({
    worker: true,
    config: { agentHostNetworks: ["127.0.0.0/8"], agentHostPorts: [{ from: 1024, to: 65_535 }] },
  });
  let current: GatewayTenant | undefined;
  beforeEach(async () => {
    const tenant = await service().tenant();
    const gateway = await ScriptedGateway.open();
    const { server_id: serverId, agent } = await givenGateway(tenant, gateway);
    const tools = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
    const asAgent = async (agentId: string): Promise<GatewayClient> => {
      const request = { kind: "gateway_token", name: "Agent", agent_id: agentId };
      return tools.as(String((await tenant.rest.post("/v1/tokens", request)).body["token"]));
    };
    const salesId = agent.specialized_agents[0]!.agent_id;
    current = { tenant, gateway, serverId, mainId: agent.agent_id, salesId, tools, asAgent };
  });
  afterEach(() => current?.gateway[Symbol.asyncDispose]());
  return {
    service,
    opened: (): GatewayTenant => {
      if (current === undefined) throw new Error("the gateway of this test has not started");
      return current;
    },
  };
}

/** Registers a gateway of agents as a later server than those of the tenant, and waits until its agents are listed. */
export async function givenGateway(
  { rest }: Tenant,
  { url, token }: Pick<ScriptedGateway, "url" | "token">,
): Promise<ListedServer> {
  await nextMillisecond();
  const { body } = await rest.post("/v1/servers", { name: "Gateway", kind: "openclaw", url, token });
  const find = async (): Promise<ListedServer> => {
    const server = (await listServers(rest)).find(({ server_id: id }) => id === body["server_id"]);
    expect(server).toMatchObject({ status: "ready" });
    return server!;
  };
  return waitFor(find);
}

/** Calls a tool that must succeed. */
export async function succeed(
  tools: GatewayClient,
  name: string,
  input: object = {},
): Promise<Record<string, unknown>> {
  const { isError, text, structuredContent } = await tools.tool(name, input);
  expect([name, isError ? text : null]).toEqual([name, null]);
  return structuredContent;
}
