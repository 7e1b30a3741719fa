import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { removeUnusedWorkspaces } from "../../domain/agent-workspaces/remove-unused-workspaces.ts";
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
  serverId: string;
  url: string;
  run(code: string): Promise<Record<string, unknown>>;
}

/** The main agent of a new server, whose workspace has these files. */
async function givenAgent(files: Record<string, string | number[]> = {}, owner = tenant): Promise<TestAgent> {
  const { agent, server_id } = (await owner.rest.post("/v1/servers", { name: "Server" })).body as {
    server_id: string;
    agent: { agent_id: string; gateway_token: string };
  };
  const gateway = new GatewayClient(service().service.publicUrl, agent.gateway_token);
  const run = async (code: string) => (await gateway.tool("service_execute", { code })).structuredContent;
  const code = `for (const [path, content] of Object.entries(${JSON.stringify(files)})) {
    Deno.mkdirSync("/workspace/" + path.split("/").slice(0, -1).join("/"), { recursive: true });
    Deno.writeFileSync("/workspace/" + path, typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content));
  }`;
  expect(await run(code)).toMatchObject({ exit_code: 0 });
  return { id: agent.agent_id, serverId: server_id, url: `/v1/agents/${agent.agent_id}/workspace`, run };
}

const readPart = (agent: TestAgent, query: Record<string, string | number>, { rest } = tenant) =>
  rest.get(`${agent.url}/file?${new URLSearchParams(query as Record<string, string>).toString()}`);
const clear = (agent: TestAgent, path?: string, { rest } = tenant) =>
  rest.send("DELETE", path === undefined ? agent.url : `${agent.url}?path=${encodeURIComponent(path)}`, {});
const workspaces = () => service().service.parts.service;
const idOf = ({ id }: TestAgent) => ({ orgId: tenant.org_id, agentId: id });

verifies(
  "agents.workspace",
  "the files of an agent are listed in pages, by path, with size and time of change",
  async () => {
    const agent = await givenAgent({ "b.txt": "12345", "a/deep/c": "", A: "1", "é\n": "x" });
    const first = await tenant.rest.get(`${agent.url}?limit=3`);
    expect([first.status, first.body]).toEqual([
      200,
      {
        agent_id: agent.id,
        file_count: 4,
        folder_count: 2,
        size_bytes: 7,
        files: [
          { path: "A", size_bytes: 1, modified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/) },
          { path: "a/deep/c", size_bytes: 0, modified_at: expect.any(String) },
          { path: "b.txt", size_bytes: 5, modified_at: expect.any(String) },
        ],
        next_cursor: expect.any(String),
      },
    ]);
    const second = await tenant.rest.get(`${agent.url}?limit=3&cursor=${String(first.body["next_cursor"])}`);
    expect(second.body).toMatchObject({ files: [{ path: "é\n" }], next_cursor: null });
    expect((await tenant.rest.get(`${agent.url}?limit=4`)).body["next_cursor"]).toBeNull();
    for (const query of ["limit=0", "limit=1001", "limit=x", "cursor=%00", "cursor=%2F%2F", "cursor=gA"]) {
      const refused = await tenant.rest.get(`${agent.url}?${query}`);
      expect([query, refused.status, refused.body["error"]]).toEqual([
        query,
        400,
        expect.stringMatching(/limit|cursor/),
      ]);
    }
  },
);

test("the workspace of an agent that has left no file is empty", async () => {
  const agent = await givenAgent();
  expect((await tenant.rest.get(agent.url)).body).toMatchObject({ file_count: 0, size_bytes: 0, files: [] });
  expect((await clear(agent)).body).toEqual({ agent_id: agent.id, removed_files: 0 });
  expect((await readPart(agent, { path: "a" })).status).toBe(404);
});

verifies(
  "agents.workspace",
  "a text is read in parts that end with whole characters, and other content is in base64",
  async () => {
    const agent = await givenAgent({ "text.md": "aé🙂b", binary: [0, 255, 10], "odd name ?&#%": "x" });
    const read = async (query: Record<string, string | number>) => (await readPart(agent, query)).body;
    expect(await read({ path: "text.md" })).toEqual({
      agent_id: agent.id,
      path: "text.md",
      size_bytes: 8,
      modified_at: expect.any(String),
      offset: 0,
      encoding: "utf-8",
      content: "aé🙂b",
      next_offset: null,
    });
    expect(await read({ path: "text.md", length: 5 })).toMatchObject({ content: "aé", next_offset: 3 });
    expect(await read({ path: "text.md", offset: 3, length: 4 })).toMatchObject({ content: "🙂", next_offset: 7 });
    // Less than a character is not text, so that each part makes progress.
    expect(await read({ path: "text.md", offset: 3, length: 2 })).toMatchObject({
      encoding: "base64",
      content: "8J8=",
      next_offset: 5,
    });
    expect(await read({ path: "text.md", offset: 99 })).toMatchObject({ content: "", next_offset: null });
    expect(await read({ path: "binary" })).toMatchObject({ encoding: "base64", content: "AP8K", next_offset: null });
    expect(await read({ path: "odd name ?&#%" })).toMatchObject({ content: "x" });
  },
);

test("a path that leads out of the workspace, or to no file, is not found or invalid", async () => {
  const agent = await givenAgent({ "a/b": "1" });
  for (const path of ["a", "a/", "a/b/", "b", "../b", "a/../a/b", "./a/b", "\0", "a/b\0", "\uFFFD"])
    expect([path, (await readPart(agent, { path })).status]).toEqual([path, 404]);
  for (const query of [{}, { path: "" }, { path: "/etc/passwd" }, { path: "x".repeat(1025) }])
    expect([query, (await readPart(agent, query as Record<string, string>)).status]).toEqual([query, 400]);
  for (const query of ["offset=-1", "length=0", `length=${1024 ** 2 + 1}`, "offset=x"])
    expect([query, (await tenant.rest.get(`${agent.url}/file?path=a%2Fb&${query}`)).status]).toEqual([query, 400]);
});

verifies(
  "agents.workspace",
  "a file, a folder, or everything is removed, and the next program sees what is left",
  async () => {
    const agent = await givenAgent({ "a/b": "1", "a/c/d": "2", ab: "3", z: "4" });
    expect((await clear(agent, "a/b")).body).toEqual({ agent_id: agent.id, removed_files: 1 });
    expect((await clear(agent, "a/b")).status).toBe(404);
    expect((await clear(agent, "a")).body).toMatchObject({ removed_files: 1 });
    expect((await tenant.rest.get(agent.url)).body).toMatchObject({
      folder_count: 0,
      files: [{ path: "ab" }, { path: "z" }],
    });
    const print = `console.log([...Deno.readDirSync("/workspace")].map(({ name }) => name + Deno.readTextFileSync("/workspace/" + name)).sort().join())`;
    expect(await agent.run(print)).toMatchObject({ stdout: "ab3,z4\n" });
    expect((await clear(agent)).body).toMatchObject({ removed_files: 2 });
    expect(await agent.run(print)).toMatchObject({ stdout: "\n" });
  },
);

verifies(hazard(33), "the workspace of another organization's agent looks like that of an unknown agent", async () => {
  const agent = await givenAgent({ secret: "1" });
  const other = await service().tenant();
  const unknown = { ...agent, url: `/v1/agents/${randomUUID()}/workspace` };
  for (const call of [
    (one: TestAgent) => other.rest.get(one.url),
    (one: TestAgent) => readPart(one, { path: "secret" }, other),
    (one: TestAgent) => clear(one, undefined, other),
  ]) {
    const [foreign, absent] = [await call(agent), await call(unknown)];
    expect([foreign.status, foreign.body]).toEqual([404, absent.body]);
  }
  expect((await tenant.rest.get(agent.url)).body).toMatchObject({ file_count: 1 });
});

test("deleting a specialized agent or a server removes the workspaces", async () => {
  const main = await givenAgent({ a: "1" });
  const created = (await tenant.rest.post("/v1/agents", { server_id: main.serverId, name: "Two" })).body;
  const gateway = new GatewayClient(service().service.publicUrl, String(created["gateway_token"]));
  await gateway.tool("service_execute", { code: `Deno.writeTextFileSync("/workspace/b", "2")` });
  const specialized = { orgId: tenant.org_id, agentId: String(created["agent_id"]) };
  const stored = async () => (await workspaces().agentWorkspaces.listAll()).map(({ agentId }) => agentId);
  expect(await stored()).toEqual(expect.arrayContaining([main.id, specialized.agentId]));
  expect((await tenant.rest.send("DELETE", `/v1/agents/${specialized.agentId}`, {})).status).toBe(200);
  expect(await stored()).not.toContain(specialized.agentId);
  expect(await stored()).toContain(main.id);
  expect((await tenant.rest.send("DELETE", `/v1/servers/${main.serverId}`, {})).status).toBe(200);
  expect(await stored()).not.toContain(main.id);
});

test("a program that is running while its agent is deleted leaves no workspace", async () => {
  const agent = await givenAgent({ a: "1" });
  const running = agent.run(`Deno.writeTextFileSync("/workspace/b", "2");
    await service.tools.service_set_agent_instructions({ content: "started" });
    for (;;) {
      const { servers } = await service.tools.service_list_agents({});
      if (!servers.some(({ server_id }) => server_id === ${JSON.stringify(agent.serverId)})) break;
    }`);
  const readInstructions = async () => (await tenant.rest.get(`/v1/agents/${agent.id}/instructions`)).body["content"];
  await expect.poll(readInstructions).toBe("started");
  expect((await tenant.rest.send("DELETE", `/v1/servers/${agent.serverId}`, {})).status).toBe(200);
  expect(await running).toMatchObject({ exit_code: 1, stderr: expect.stringContaining("The agent was deleted") });
  expect(await workspaces().agentWorkspaces.list(idOf(agent))).toEqual({ files: [], folders: 0 });
});

test("the sweep removes workspaces without an agent, and no other", async () => {
  const agent = await givenAgent({ a: "1" });
  const em = service().service.parts.orm.em.fork();
  const orphan = await givenAgent({ a: "1" });
  await em.execute("delete from agents where id = ?", [orphan.id]);
  expect(await removeUnusedWorkspaces(workspaces())).toEqual([orphan.id]);
  expect(await removeUnusedWorkspaces(workspaces())).toEqual([]);
  expect((await workspaces().agentWorkspaces.list(idOf(agent))).files).toHaveLength(1);
});

test("the usage of an organization contains the size of its workspaces", async () => {
  const owner = await service().tenant();
  const usage = async () => {
    const gateway = new GatewayClient(service().service.publicUrl, owner.personal_access_token);
    return (await gateway.tool("service_get_usage")).structuredContent["storage"] as { workspace_bytes: number };
  };
  expect((await usage()).workspace_bytes).toBe(0);
  await givenAgent({ a: "x".repeat(10_000) }, owner);
  const { workspace_bytes: bytes } = await usage();
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThan(11_000);
});
