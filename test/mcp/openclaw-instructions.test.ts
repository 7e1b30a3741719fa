import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { InstructionRevision } from "../../domain/agents/instruction-revision.entity.ts";
import type { GatewayClient } from "../support/clients/gateway-client.ts";
import { sharedGateway, succeed } from "../support/service/shared-gateway.ts";
import { verifies } from "../support/verifies.ts";

const { service, opened } = sharedGateway();
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

const read = (tools: GatewayClient, agentId?: string) =>
  succeed(tools, "service_get_agent_instructions", agentId === undefined ? {} : { agent_id: agentId });
const set = (input: object, tools = opened().tools) => tools.tool("service_set_agent_instructions", input);

verifies(
  [
    "tool.service_get_agent_instructions",
    "tool.service_set_agent_instructions",
    "tool.service_set_agent_instructions.reversible",
  ],
  "the instructions of an agent in OpenClaw are replaced there, a stale hash is refused, and the version before is put back",
  async () => {
    const { gateway, mainId, asAgent } = opened();
    const agent = await asAgent(mainId);
    const rules = "# Rules\nBe brief.\n";
    const before = await read(agent);
    expect(before).toMatchObject({
      agent_id: mainId,
      content: rules,
      content_hash: sha256(rules),
      revision: 0,
      updated_at: "2026-11-22T09:00:00.000Z",
    });
    const kind = { content: "# Rules\nBe kind.\n", expected_hash: before["content_hash"] };
    expect((await set(kind, agent)).structuredContent).toEqual({
      agent_id: mainId,
      before: { content: rules, content_hash: sha256(rules) },
      after: { content: kind.content, content_hash: sha256(kind.content) },
      revision: 2,
      previous_revision: 1,
      truncated: false,
      diff: expect.stringContaining("-Be brief.\n+Be kind.\n"),
    });
    expect(gateway.state.files["main"]).toBe(kind.content);
    const stale = await set({ content: "Mine", expected_hash: sha256(rules) }, agent);
    expect(stale).toMatchObject({ isError: true, text: expect.stringContaining(sha256(kind.content)) });
    expect(gateway.state.files["main"]).toBe(kind.content);
    const reverted = (await set({ revert_to: 1 }, agent)).structuredContent;
    expect(reverted).toMatchObject({ after: { content: rules }, revision: 3, previous_revision: 2 });
    expect(gateway.state.files["main"]).toBe(rules);
    expect(await read(agent)).toMatchObject({ revision: 3 });
  },
);

test("an edit in OpenClaw is the current version, and is kept as a revision of OpenClaw when it is replaced", async () => {
  const { tenant, gateway, serverId, mainId, tools } = opened();
  await set({ agent_id: mainId, content: "# One\n" });
  gateway.state.files["main"] = "# Edited there\n";
  const current = await read(tools, mainId);
  expect(current).toMatchObject({ content: "# Edited there\n", revision: 0 });
  const put = (body: object) =>
    tenant.rest.send("PUT", `/v1/agents/${mainId}/instructions`, {
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
  expect((await put({ content: "# Two\n", expected_hash: sha256("# One\n") })).status).toBe(409);
  expect((await put({ content: "# Two\n", expected_hash: current["content_hash"] })).body).toMatchObject({
    revision: 4,
    previous_revision: 3,
  });
  const { body } = await tenant.rest.get(`/v1/agents/${mainId}/instructions/revisions`);
  expect(body["revisions"]).toMatchObject([
    { number: 4, credential_kind: "api_key", content_hash: sha256("# Two\n") },
    { number: 3, credential_kind: "openclaw", credential_id: serverId, user_id: null },
    { number: 2, credential_kind: "personal_access_token" },
    { number: 1, credential_kind: "openclaw" },
  ]);
  const restored = await tenant.rest.post(`/v1/agents/${mainId}/instructions/revert`, { number: 3 });
  expect([restored.status, gateway.state.files["main"]]).toEqual([200, "# Edited there\n"]);
});

test("an agent without a file gets one, and the same content again changes nothing", async () => {
  const { gateway, salesId, tools } = opened();
  expect(await read(tools, salesId)).toMatchObject({ content: "", content_hash: sha256(""), revision: 0 });
  const first = await set({ agent_id: salesId, content: "# Sales\n", expected_hash: sha256("") });
  expect(first.structuredContent).toMatchObject({ revision: 1, previous_revision: 0 });
  const again = await set({ agent_id: salesId, content: "# Sales\n" });
  expect(again.structuredContent).toMatchObject({ revision: 1, previous_revision: 1, diff: null });
  expect(gateway.calls.filter(({ method }) => method === "agents.files.set")).toHaveLength(1);
});

test("the replaced version is stored before the gateway is asked to replace it", async () => {
  const { gateway, mainId } = opened();
  const stored: string[] = [];
  gateway.misbehavior.set("agents.files.set", "the end of the connection");
  const { isError, text } = await set({ agent_id: mainId, content: "# Lost?\n" });
  expect([isError, text]).toEqual([true, expect.stringContaining("It is not known whether the instructions were")]);
  const em = service().service.parts.orm.em.fork();
  for (const { content } of await em.find(InstructionRevision, { agentId: mainId })) stored.push(content);
  expect(stored).toEqual(["# Rules\nBe brief.\n"]);
  gateway.misbehavior.clear();
  const retried = await set({ agent_id: mainId, content: "# Lost?\n" });
  expect(retried.structuredContent).toMatchObject({ revision: 2, previous_revision: 1 });
});

test("a change whose response is lost is found and kept by the next change", async () => {
  const { tenant, gateway, mainId } = opened();
  gateway.alter.set("agents.files.set", () => ({ ok: true }));
  const { isError, text } = await set({ agent_id: mainId, content: "# Without a response\n" });
  expect([isError, text]).toEqual([true, expect.stringContaining("read them before you try again")]);
  expect(gateway.state.files["main"]).toBe("# Without a response\n");
  gateway.alter.clear();
  const next = await set({ agent_id: mainId, content: "# Next\n" });
  expect(next.structuredContent).toMatchObject({ before: { content: "# Without a response\n" }, revision: 3 });
  const { body } = await tenant.rest.get(`/v1/agents/${mainId}/instructions/revisions`);
  const hashes = ["# Next\n", "# Without a response\n", "# Rules\nBe brief.\n"].map(sha256);
  expect((body["revisions"] as { content_hash: string }[]).map(({ content_hash: hash }) => hash)).toEqual(hashes);
});

test("without an expected hash the last of simultaneous changes wins, and every version is kept", async () => {
  const { gateway, mainId } = opened();
  const contents = Array.from({ length: 6 }, (_, index) => `# Version ${index}\n`);
  const results = await Promise.all(contents.map((content) => set({ agent_id: mainId, content })));
  expect(results.map(({ isError, text }) => (isError ? text : ""))).toEqual(contents.map(() => ""));
  const em = service().service.parts.orm.em.fork();
  const revisions = await em.find(InstructionRevision, { agentId: mainId }, { orderBy: { number: "asc" } });
  expect(revisions.map(({ content }) => content).toSorted()).toEqual(["# Rules\nBe brief.\n", ...contents].toSorted());
  expect(revisions.at(-1)!.content).toBe(gateway.state.files["main"]);
});

test("an agent reads the instructions of another agent of its gateway, and cannot replace them", async () => {
  const { gateway, mainId, salesId, asAgent } = opened();
  const agent = await asAgent(salesId);
  expect(await read(agent, mainId)).toMatchObject({ content: "# Rules\nBe brief.\n" });
  const refused = await set({ agent_id: mainId, content: "Replaced" }, agent);
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("only its own agent") });
  expect(gateway.state.files["main"]).toBe("# Rules\nBe brief.\n");
  expect((await set({ content: "Own" }, agent)).isError).toBe(false);
  expect(gateway.state.files["sales"]).toBe("Own");
});
