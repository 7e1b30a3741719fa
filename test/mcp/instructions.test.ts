import { createHash } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { GatewayClient, type ToolResult } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";
import { nextMillisecond } from "../support/next-millisecond.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

const json = { "content-type": "application/json" };
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** The client of a new specialized agent. */
async function givenAgent(owner = tenant): Promise<{ id: string; gateway: GatewayClient }> {
  const { body } = await owner.rest.get("/v1/servers");
  const [{ server_id }] = body["servers"] as [{ server_id: string }];
  const agent = (await owner.rest.post("/v1/agents", { server_id, name: "Agent" })).body;
  const gateway = new GatewayClient(service().service.publicUrl, String(agent["gateway_token"]));
  return { id: String(agent["agent_id"]), gateway };
}

const read = async (gateway: GatewayClient, input: object = {}) =>
  (await gateway.tool("service_get_agent_instructions", input)).structuredContent;
const set = (gateway: GatewayClient, input: object): Promise<ToolResult> =>
  gateway.tool("service_set_agent_instructions", input);

verifies(
  [
    "tool.service_get_agent_instructions",
    "tool.service_set_agent_instructions",
    "tool.service_set_agent_instructions.reversible",
  ],
  "an agent reads its instructions, replaces them, is refused with a stale hash, and restores the version before",
  async () => {
    const { id, gateway } = await givenAgent();
    const empty = await read(gateway);
    expect(empty).toMatchObject({ agent_id: id, content: "", content_hash: sha256(""), revision: 0 });
    const first = await set(gateway, { content: "# Rules\nBe brief.\n", expected_hash: empty["content_hash"] });
    expect(first.structuredContent).toEqual({
      agent_id: id,
      before: { content: "", content_hash: sha256("") },
      after: { content: "# Rules\nBe brief.\n", content_hash: sha256("# Rules\nBe brief.\n") },
      revision: 1,
      previous_revision: 0,
      truncated: false,
      diff: expect.stringContaining("+# Rules\n+Be brief."),
    });
    const second = await set(gateway, { content: "# Rules\nBe kind.\n" });
    expect(second.structuredContent).toMatchObject({
      revision: 2,
      diff: expect.stringContaining(" # Rules\n-Be brief.\n+Be kind.\n"),
    });
    const stale = await set(gateway, { content: "Mine", expected_hash: sha256("# Rules\nBe brief.\n") });
    expect(stale).toMatchObject({ isError: true, text: expect.stringContaining(sha256("# Rules\nBe kind.\n")) });
    expect((await set(gateway, { revert_to: 1 })).structuredContent).toMatchObject({
      before: { content: "# Rules\nBe kind.\n" },
      after: { content: "# Rules\nBe brief.\n" },
      revision: 3,
      previous_revision: 2,
    });
    expect(await read(gateway)).toMatchObject({ content: "# Rules\nBe brief.\n", revision: 3 });
  },
);

verifies(
  "instructions.change",
  "the first change is undone with its previous_revision, by the tool and by REST",
  async () => {
    const { id, gateway } = await givenAgent();
    for (const revert of [
      (number: unknown) => set(gateway, { revert_to: number }).then(({ structuredContent }) => structuredContent),
      (number: unknown) =>
        tenant.rest.post(`/v1/agents/${id}/instructions/revert`, { number }).then(({ body }) => body as object),
    ]) {
      const before = await read(gateway);
      const { structuredContent: first } = await set(gateway, { content: "# Rules\n" });
      const revision = Number(before["revision"]) + 1;
      expect(first).toMatchObject({ revision, previous_revision: before["revision"] });
      expect(await revert(first["previous_revision"])).toMatchObject({
        before: { content: "# Rules\n" },
        after: { content: "", content_hash: sha256("") },
        revision: revision + 1,
      });
      expect(await read(gateway)).toMatchObject({ content: "", revision: revision + 1 });
    }
    const { body } = await tenant.rest.get(`/v1/agents/${id}/instructions/revisions`);
    expect(body["revisions"]).toMatchObject([{ reverted_to: 2 }, {}, { reverted_to: 0 }, {}]);
    expect((await set(gateway, { revert_to: 0 })).structuredContent).toMatchObject({ revision: 4, diff: null });
  },
);

test("without agent_id, a user's token means the main agent of the first server", async () => {
  const gateway = new GatewayClient(service().service.publicUrl, tenant.personal_access_token);
  expect(await read(gateway)).toMatchObject({ agent_id: await mainAgentId(tenant.rest) });
});

test("an agent reads the instructions of another agent and cannot replace them", async () => {
  const [one, other] = [await givenAgent(), await givenAgent()];
  await set(other.gateway, { content: "Of the other" });
  expect(await read(one.gateway, { agent_id: other.id })).toMatchObject({ content: "Of the other" });
  const refused = await set(one.gateway, { agent_id: other.id, content: "Replaced" });
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("only its own agent") });
  expect(await read(other.gateway)).toMatchObject({ content: "Of the other", revision: 1 });
  expect((await set(one.gateway, { agent_id: one.id, content: "Own" })).isError).toBe(false);
});

test("the agents of another organization are not found", async () => {
  const { gateway } = await givenAgent();
  const foreign = await givenAgent(await service().tenant());
  await set(foreign.gateway, { content: "Foreign" });
  for (const [name, input] of [
    ["service_get_agent_instructions", { agent_id: foreign.id }],
    ["service_set_agent_instructions", { agent_id: foreign.id, content: "x" }],
  ] as const)
    expect(await gateway.tool(name, input)).toMatchObject({
      isError: true,
      text: expect.stringContaining("Agent not found"),
    });
  expect((await tenant.rest.get(`/v1/agents/${foreign.id}/instructions/revisions/1`)).status).toBe(404);
});

test("of two simultaneous changes with the same expected hash, one succeeds", async () => {
  const { gateway } = await givenAgent();
  const changes = ["One", "Two"].map((content) => set(gateway, { content, expected_hash: sha256("") }));
  const results = await Promise.all(changes);
  expect(results.map(({ isError }) => isError).toSorted()).toEqual([false, true]);
  expect(await read(gateway)).toMatchObject({ revision: 1 });
});

test("the current content again is not a new revision", async () => {
  const { gateway } = await givenAgent();
  await set(gateway, { content: "Same" });
  const again = await set(gateway, { content: "Same" });
  expect(again.structuredContent).toMatchObject({ revision: 1, previous_revision: 1, diff: null });
});

verifies(
  "instructions.revisions",
  "revisions are listed with who stored each, and are read with their content",
  async () => {
    const { id, gateway } = await givenAgent();
    await set(gateway, { content: "One" });
    const put = { body: JSON.stringify({ content: "Two" }), headers: json };
    expect((await tenant.rest.send("PUT", `/v1/agents/${id}/instructions`, put)).status).toBe(200);
    const path = `/v1/agents/${id}/instructions/revisions`;
    const { body } = await tenant.rest.get(`${path}?limit=1`);
    const next = await tenant.rest.get(`${path}?limit=1&cursor=${String(body["next_cursor"])}`);
    expect([body["revisions"], next.body]).toEqual([
      [expect.objectContaining({ number: 2, credential_kind: "api_key", content_hash: sha256("Two"), size_bytes: 3 })],
      { revisions: [expect.objectContaining({ number: 1, credential_kind: "gateway_token" })], next_cursor: null },
    ]);
    expect((await tenant.rest.get(`${path}/1`)).body).toMatchObject({ number: 1, content: "One" });
    const reverted = await tenant.rest.post(`/v1/agents/${id}/instructions/revert`, { number: 1 });
    expect(reverted.body).toMatchObject({ revision: 3, after: { content: "One" } });
    expect((await tenant.rest.get(path)).body["revisions"]).toMatchObject([{ number: 3, reverted_to: 1 }, {}, {}]);
    expect((await tenant.rest.get(`${path}/9`)).status).toBe(404);
    expect((await tenant.rest.post(`/v1/agents/${id}/instructions/revert`, { number: 9 })).status).toBe(404);
  },
);

test("of an agent the newest 200 revisions are kept", async () => {
  const { id, gateway } = await givenAgent();
  await set(gateway, { content: "First" });
  const em = service().service.parts.orm.em.fork();
  await em.execute(
    `insert into instruction_revisions select agent_id, number + n, content || n, md5(n::text), null, null, credential_kind, credential_id, created_at
     from instruction_revisions, generate_series(1, 199) n where agent_id = ?`,
    [id],
  );
  const revisionOne = () => tenant.rest.get(`/v1/agents/${id}/instructions/revisions/1`);
  expect((await revisionOne()).status).toBe(200);
  expect((await set(gateway, { content: "Newest" })).structuredContent).toMatchObject({ revision: 201 });
  expect((await revisionOne()).status).toBe(404);
  expect((await set(gateway, { revert_to: 2 })).isError).toBe(false);
});

test("a long version is shown cut, and is stored whole", async () => {
  const { id, gateway } = await givenAgent();
  const content = "é😀".repeat(5000);
  const { structuredContent } = await set(gateway, { content });
  expect(structuredContent).toMatchObject({ truncated: true, after: { content_hash: sha256(content) } });
  expect((structuredContent["after"] as { content: string }).content.length).toBeLessThanOrEqual(8000);
  expect(await read(gateway, { agent_id: id })).toMatchObject({ content });
});

test("two texts without a common line are compared in bounded time, without a diff", async () => {
  const { gateway } = await givenAgent();
  const lines = (letter: string) => Array.from({ length: 3000 }, (_, line) => `${letter}${line}`).join("\n");
  await set(gateway, { content: lines("a") });
  expect((await set(gateway, { content: lines("b") })).structuredContent).toMatchObject({ revision: 2, diff: null });
});

const INVALID: [what: string, input: object, message: string][] = [
  ["no content", {}, "Send either content or revert_to"],
  ["content and a revision", { content: "a", revert_to: 1 }, "Send either content or revert_to"],
  ["a NUL character", { content: "a\0b" }, "content: must be Unicode text"],
  ["an unpaired surrogate", { content: "a\uD800" }, "content: must be Unicode text"],
  ["content over the limit", { content: "é".repeat(16_385) }, "content: has 32770 bytes, and at most 32768"],
  ["content of two megabytes", { content: "x".repeat(2_000_000) }, "content: has 2000000 bytes"],
  ["a malformed hash", { content: "a", expected_hash: "abc" }, "expected_hash: must be a SHA-256 in hex"],
  ["an unknown revision", { revert_to: 7 }, "Revision not found"],
  ["a malformed agent id", { agent_id: "main", content: "a" }, "agent_id: "],
];

test.each(INVALID)("%s is rejected and changes nothing", async (_, input, message) => {
  const { gateway } = await givenAgent();
  await set(gateway, { content: "Kept" });
  expect(await set(gateway, input)).toMatchObject({ isError: true, text: expect.stringContaining(message) });
  expect(await read(gateway)).toMatchObject({ content: "Kept", revision: 1 });
});

verifies(
  ["tool.service_list_agents", "tool.service_list_agents.specialized"],
  "service_list_agents lists one entry for each server with its main agent, which nests the specialized agents",
  async () => {
    const owner = await service().tenant();
    const { id, gateway } = await givenAgent(owner);
    await nextMillisecond();
    await owner.rest.post("/v1/servers", { name: "Second" });
    const { structuredContent } = await gateway.tool("service_list_agents");
    expect(structuredContent).toEqual({
      servers: [
        {
          server_id: expect.any(String),
          name: "Default",
          kind: "managed",
          url: null,
          status: "ready",
          status_since: expect.any(String),
          status_message: null,
          agent: {
            agent_id: await mainAgentId(owner.rest),
            name: "Main",
            model: null,
            specialized_agents: [{ agent_id: id, name: "Agent", model: null }],
          },
        },
        expect.objectContaining({ name: "Second" }),
      ],
      next_cursor: null,
    });
  },
);

test("a list of many agents is paged within the size of a response", async () => {
  const owner = await service().tenant();
  const em = service().service.parts.orm.em.fork();
  await em.execute(
    `insert into agent_servers select gen_random_uuid(), ?, repeat('x', 100), now() + n * interval '1 ms' from generate_series(1, 150) n`,
    [owner.org_id],
  );
  await em.execute(
    `insert into agents select gen_random_uuid(), org_id, id, repeat('y', 100), null, true, now() from agent_servers where org_id = ? and name <> 'Default'`,
    [owner.org_id],
  );
  const gateway = new GatewayClient(service().service.publicUrl, owner.personal_access_token);
  const ids: string[] = [];
  let cursor: unknown = undefined;
  do {
    const { structuredContent, text } = await gateway.tool("service_list_agents", { limit: 100, cursor });
    expect(text.length).toBeLessThanOrEqual(24_000);
    ids.push(...(structuredContent["servers"] as { server_id: string }[]).map(({ server_id }) => server_id));
    cursor = structuredContent["next_cursor"] ?? undefined;
  } while (cursor !== undefined);
  expect([ids.length, new Set(ids).size]).toEqual([151, 151]);
});
