import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

interface TestAgent {
  id: string;
  token: string;
  run(code: string, options?: object): Promise<Record<string, unknown>>;
}

/** A new specialized agent, which runs programs with its gateway token. */
async function givenAgent(owner = tenant): Promise<TestAgent> {
  const { body } = await owner.rest.get("/v1/servers");
  const [{ server_id }] = body["servers"] as [{ server_id: string }];
  const agent = (await owner.rest.post("/v1/agents", { server_id, name: "Agent" })).body;
  const token = String(agent["gateway_token"]);
  return { id: String(agent["agent_id"]), token, run: (code, options) => execute(token, code, options) };
}

async function execute(token: string, code: string, options: object = {}): Promise<Record<string, unknown>> {
  const gateway = new GatewayClient(service().service.publicUrl, token);
  return (await gateway.tool("service_execute", { code, ...options })).structuredContent;
}

const WRITE = `Deno.writeTextFileSync("/workspace/notes.txt", "mine");`;
const READ = `console.log(Deno.readTextFileSync("/workspace/notes.txt"))`;
const LIST = `console.log([...Deno.readDirSync("/workspace")].length)`;

verifies(
  "tool.service_execute",
  "an agent reads with one program what it wrote with an earlier one, through an MCP client with its gateway token",
  async () => {
    const { token } = await givenAgent();
    const client = new Client({ name: "a-client", version: "1.0.0" });
    const headers = { authorization: `Bearer ${token}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${service().service.publicUrl}/mcp`), { requestInit: { headers } }),
    );
    try {
      const run = (code: string) => client.callTool({ name: "service_execute", arguments: { code } });
      expect(await run(WRITE)).toMatchObject({ structuredContent: { stdout: "", exit_code: 0 } });
      expect(await run(READ)).toMatchObject({ structuredContent: { stdout: "mine\n", exit_code: 0 } });
    } finally {
      await client.close();
    }
  },
);

verifies(
  hazard(33),
  "another agent, and an agent of another organization, do not see the files of an agent",
  async () => {
    const [agent, other, foreign] = [
      await givenAgent(),
      await givenAgent(),
      await givenAgent(await service().tenant()),
    ];
    await agent.run(WRITE);
    for (const { run } of [other, foreign]) expect(await run(LIST)).toMatchObject({ stdout: "0\n", exit_code: 0 });
    expect(await agent.run(READ)).toMatchObject({ stdout: "mine\n" });
  },
);

test("a user's program has the workspace of the agent whose id it passes, and a temporary one without an id", async () => {
  const agent = await givenAgent();
  const user = tenant.personal_access_token;
  await execute(user, WRITE, { agent_id: agent.id });
  expect(await agent.run(READ)).toMatchObject({ stdout: "mine\n" });
  await execute(user, WRITE);
  expect(await execute(user, LIST)).toMatchObject({ stdout: "0\n" });
  expect(await agent.run(READ, { agent_id: agent.id })).toMatchObject({ stdout: "mine\n" });
});

test("a gateway token cannot run a program with the workspace of another agent, and an unknown agent is not found", async () => {
  const [agent, other, foreign] = [await givenAgent(), await givenAgent(), await givenAgent(await service().tenant())];
  const call = (agent_id: string) =>
    new GatewayClient(service().service.publicUrl, agent.token).tool("service_execute", { code: WRITE, agent_id });
  expect(await call(other.id)).toMatchObject({ isError: true, text: expect.stringContaining("only its own agent") });
  expect(await call(foreign.id)).toMatchObject({ isError: true, text: expect.stringContaining("Agent not found") });
  for (const { run } of [other, foreign]) expect(await run(LIST)).toMatchObject({ stdout: "0\n" });
});

test("a token with the scope read runs programs that see the files of its agent and cannot change them", async () => {
  const agent = await givenAgent();
  await agent.run(WRITE);
  const issue = { kind: "gateway_token", name: "Reader", agent_id: agent.id, scope: "read" };
  const token = String((await tenant.rest.post("/v1/tokens", issue)).body["token"]);
  expect(await execute(token, READ)).toMatchObject({ stdout: "mine\n", stderr: "", exit_code: 0 });
  expect(await execute(token, `Deno.removeSync("/workspace/notes.txt")`)).toMatchObject({
    exit_code: 1,
    stderr: expect.stringContaining('does not have the scope "everything"'),
  });
  expect(await agent.run(READ)).toMatchObject({ stdout: "mine\n" });
});
