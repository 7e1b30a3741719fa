import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HostSettings } from "../../domain/ports/agent-host.ts";
import type { OpenClawHosts } from "../../server/drivers/agent-host/openclaw/openclaw-hosts.ts";
import { describeAgentHostContract } from "../contract/agent-host.ts";
import { createHosts, settingsOf } from "../support/agents/scripted-openclaw-host.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import type { ListedServer } from "../support/service/main-agent.ts";
import { givenGateway, succeed } from "../support/service/shared-gateway.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { READ_RULES } from "./chat-model.ts";
import { GatewayOperator } from "./gateway-operator.ts";
import { OPENCLAW_VERSION } from "./openclaw-version.ts";
import { type RealGateway, startRealGateway } from "./real-gateway.ts";

const RUN_TIMEOUT_MS = 15 * 60_000;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const RULES = "# Rules\nBe brief.\n";

const resources = new AsyncDisposableStack();
let gateway: RealGateway;
let hosts: OpenClawHosts;
let settings: HostSettings;

beforeAll(async () => {
  const { path: folder } = resources.use(await temporaryFolder());
  gateway = resources.use(await startRealGateway(folder, AbortSignal.timeout(RUN_TIMEOUT_MS)));
  hosts = resources.use(createHosts());
  settings = settingsOf(gateway);
  using operator = await GatewayOperator.connect(gateway);
  await writeFile(gateway.instructionFile("main"), RULES);
  await operator.tell("main", "hello there");
  await operator.tell("main", READ_RULES);
  await operator.tell("sales", "prices");
});

afterAll(() => resources.disposeAsync());

describeAgentHostContract(`openclaw, with the gateway of OpenClaw ${OPENCLAW_VERSION}`, () =>
  Promise.resolve({
    host: hosts.open(settings),
    mainId: "main",
    otherId: "sales",
    sessionId: "agent:main:main",
    transcript: [
      { role: "user", content: "hello there" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: READ_RULES },
      { role: "assistant", content: "Looking." },
      { role: "assistant", content: '{"path":"AGENTS.md"}', tool: "read" },
      { role: "tool", content: RULES, tool: "read" },
      { role: "assistant", content: "It says: Rules" },
    ],
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }),
);

describe("a service with the gateway as a server", () => {
  let service: Harness;
  let server: ListedServer;
  let tenant: Tenant;
  let tools: GatewayClient;

  beforeAll(async () => {
    service = resources.use(
      await createHarness({
        worker: true,
        config: { agentHostNetworks: ["127.0.0.0/8"], agentHostPorts: [{ from: 1024, to: 65_535 }] },
      }),
    );
    tenant = await service.tenant();
    server = await givenGateway(tenant, gateway);
    tools = new GatewayClient(service.service.publicUrl, tenant.personal_access_token);
  });

  const salesId = () => server.agent.specialized_agents[0]!.agent_id;

  test("the server becomes ready, and its agents are listed", async () => {
    const { servers } = await succeed(tools, "service_list_agents");
    const listed = (servers as ListedServer[]).find(({ kind }) => kind === "openclaw");
    expect(listed).toMatchObject({
      status: "ready",
      status_message: null,
      agent: { name: "main", model: "scripted/scripted", specialized_agents: [{ name: "Sales" }] },
    });
  });

  test("the tools list the sessions with their token counters, and read a transcript", async () => {
    const input = { server_id: server.server_id };
    const { sessions } = await succeed(tools, "service_list_agent_sessions", input);
    expect(sessions).toMatchObject([
      { session_id: "agent:sales:main", agent_id: salesId(), message_count: null },
      { session_id: "agent:main:main", agent_id: server.agent.agent_id },
    ]);
    for (const { tokens } of sessions as { tokens: Record<string, number> }[]) {
      expect(tokens["input"]).toBeGreaterThan(0);
      expect(tokens["output"]).toBeGreaterThan(0);
    }
    const transcript = { ...input, session_id: "agent:main:main", limit: 3 };
    const { entries, before } = await succeed(tools, "service_get_session_transcript", transcript);
    expect(entries).toMatchObject([
      { seq: 4, role: "assistant", content: "Looking." },
      { seq: 4, tool: { name: "read" } },
      { seq: 5, role: "tool" },
      { seq: 6, role: "assistant", content: "It says: Rules" },
    ]);
    expect(before).toBe(4);
  });

  test("the skills that an agent can run are listed first, and the others with what is missing", async () => {
    const { skills } = await succeed(tools, "service_list_agent_skills", { agent_id: server.agent.agent_id });
    const listed = skills as { eligible: boolean; missing: string[] }[];
    expect(listed.length).toBeGreaterThan(5);
    expect(listed[0]).toMatchObject({ eligible: true, missing: [] });
  });

  test("instructions are replaced in the workspace of the agent, a stale hash is refused, and an edit is kept", async () => {
    const sales = { agent_id: salesId() };
    const file = gateway.instructionFile("sales");
    await writeFile(file, "# Edited in OpenClaw\n");
    const current = await succeed(tools, "service_get_agent_instructions", sales);
    expect(current).toMatchObject({ content: "# Edited in OpenClaw\n", revision: 0 });
    const replace = { ...sales, content: "# Written by the service\n" };
    const stale = await tools.tool("service_set_agent_instructions", { ...replace, expected_hash: sha256("old") });
    expect(stale).toMatchObject({ isError: true, text: expect.stringContaining(String(current["content_hash"])) });
    expect(await readFile(file, "utf8")).toBe("# Edited in OpenClaw\n");
    const expected = { ...replace, expected_hash: current["content_hash"] };
    const changed = await succeed(tools, "service_set_agent_instructions", expected);
    expect(changed).toMatchObject({ revision: 2, previous_revision: 1 });
    expect(await readFile(file, "utf8")).toBe("# Written by the service\n");
    await succeed(tools, "service_set_agent_instructions", { ...sales, revert_to: 1 });
    expect(await readFile(file, "utf8")).toBe("# Edited in OpenClaw\n");
  });

  test("a gateway that stops is shown as unreachable, and its tools fail at once", async () => {
    await gateway[Symbol.asyncDispose]();
    const find = async () => {
      const { servers } = await succeed(tools, "service_list_agents");
      return (servers as ListedServer[]).map(({ kind, status }) => [kind, status]);
    };
    await expect.poll(find).toEqual([
      ["managed", "ready"],
      ["openclaw", "unreachable"],
    ]);
    const { isError, text } = await tools.tool("service_list_agent_skills", { agent_id: salesId() });
    expect([isError, text]).toEqual([true, expect.stringContaining("service_list_agents shows the status")]);
  });
});
