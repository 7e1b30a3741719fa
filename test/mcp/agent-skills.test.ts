import { beforeAll, expect, test } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { requires, skillsOf } from "../support/service/skills.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

interface Listed {
  agent_id: string;
  skills: { name: string; description: string; source: string; eligible: boolean; missing: string[] }[];
  note: string | null;
  next_cursor: string | null;
}

async function list(token: string, input: object = {}): Promise<Listed> {
  const { structuredContent } = await new GatewayClient(service().service.publicUrl, token).tool(
    "service_list_agent_skills",
    input,
  );
  return structuredContent as unknown as Listed;
}

async function givenAgent(owner = tenant): Promise<{ id: string; token: string }> {
  const [{ server_id }] = (await owner.rest.get("/v1/servers")).body["servers"] as [{ server_id: string }];
  const { body } = await owner.rest.post("/v1/agents", { server_id, name: "Agent" });
  return { id: String(body["agent_id"]), token: String(body["gateway_token"]) };
}

verifies(
  ["tool.service_list_agent_skills", "agents.runtime"],
  "an agent sees which skills it can run, and of each other one why it cannot",
  async () => {
    const owner = await service().tenant();
    const { uploadDocument, declare, enable } = skillsOf(owner.rest);
    const agent = await givenAgent(owner);
    const further = { agent_ids: [agent.id] };
    await uploadDocument("writing", { description: "Writes texts" }, further);
    const needs = {
      requires: {
        bins: ["ffmpeg", "sox"],
        anyBins: ["claude", "codex"],
        env: ["OPENAI_API_KEY"],
        config: ["channels.slack"],
      },
    };
    await uploadDocument("video", { frontmatter: requires(needs) }, further);
    await uploadDocument("apple-notes", { frontmatter: requires({ os: ["darwin"] }) }, further);
    await uploadDocument("disabled", { frontmatter: requires({ requires: { bins: ["absent"] } }) });
    const undeclared = await list(agent.token);
    expect(undeclared).toEqual({
      agent_id: agent.id,
      skills: [
        { name: "writing", description: "Writes texts", source: "upload", eligible: true, missing: [] },
        expect.objectContaining({
          name: "apple-notes",
          eligible: false,
          missing: ["platform: needs darwin (unknown: no runtime declared)"],
        }),
        expect.objectContaining({
          name: "disabled",
          missing: ["disabled for this agent", "binary: absent (unknown: no runtime declared)"],
        }),
        expect.objectContaining({
          name: "video",
          missing: [
            "binary: ffmpeg (unknown: no runtime declared)",
            "binary: sox (unknown: no runtime declared)",
            "binary: one of claude, codex (unknown: no runtime declared)",
            "environment: OPENAI_API_KEY (unknown: no runtime declared)",
            "configuration: channels.slack (unknown: no runtime declared)",
          ],
        }),
      ],
      note: expect.stringContaining("has not declared its runtime"),
      next_cursor: null,
    });
    const partly = { platform: "linux", binaries: ["sox", "codex"], environment: ["OPENAI_API_KEY"] };
    expect((await declare(agent.id, partly)).status).toBe(200);
    const declared = await list(agent.token);
    expect([declared.note, declared.skills.map(({ name, missing }) => [name, missing])]).toEqual([
      null,
      [
        ["writing", []],
        ["apple-notes", ["platform: needs darwin, the agent runs linux"]],
        ["disabled", ["disabled for this agent", "binary: absent"]],
        ["video", ["binary: ffmpeg", "configuration: channels.slack"]],
      ],
    ]);
    const whole = {
      platform: "darwin",
      binaries: ["ffmpeg", "sox", "codex"],
      configuration: ["channels.slack"],
      environment: ["OPENAI_API_KEY"],
    };
    await declare(agent.id, whole);
    await enable(agent.id, "writing", false);
    expect((await list(agent.token)).skills.map(({ name, eligible }) => [name, eligible])).toEqual([
      ["apple-notes", true],
      ["video", true],
      ["disabled", false],
      ["writing", false],
    ]);
  },
);

test("without agent_id, a user's token means the main agent, and REST lists the same skills", async () => {
  const owner = await service().tenant();
  const id = await mainAgentId(owner.rest);
  await skillsOf(owner.rest).uploadDocument("notes", {}, { agent_ids: [id] });
  const listed = await list(owner.personal_access_token);
  expect(listed).toMatchObject({ agent_id: id, skills: [{ name: "notes", eligible: true }] });
  expect((await owner.rest.get(`/v1/agents/${id}/skills`)).body).toEqual(listed);
});

test("an agent lists the skills of another agent of its organization, and none of another organization", async () => {
  const [one, other] = [await givenAgent(), await givenAgent()];
  await skillsOf(tenant.rest).uploadDocument("of-other", {}, { agent_ids: [other.id] });
  expect((await list(one.token)).skills).toMatchObject([{ name: "of-other", eligible: false }]);
  expect((await list(one.token, { agent_id: other.id })).skills).toMatchObject([{ name: "of-other", eligible: true }]);
  const foreign = await givenAgent(await service().tenant());
  expect((await list(foreign.token)).skills).toEqual([]);
  const gateway = new GatewayClient(service().service.publicUrl, one.token);
  expect(await gateway.tool("service_list_agent_skills", { agent_id: foreign.id })).toMatchObject({
    isError: true,
    text: expect.stringContaining("Agent not found"),
  });
});

test("many skills are listed in pages within the response budget, each skill once", async () => {
  const owner = await service().tenant();
  const agent_id = await mainAgentId(owner.rest);
  await skillsOf(owner.rest).uploadDocument("skill", { description: "é😀".repeat(300) });
  const em = service().service.parts.orm.em.fork();
  await em.execute(
    `insert into skills select gen_random_uuid(), org_id, name || '-' || lpad(n::text, 2, '0'), description, license, compatibility,
     allowed_tools, metadata, requirements, repository, content_hash, file_count, size_bytes, created_at, updated_at
     from skills, generate_series(1, 59) n where org_id = ?`,
    [owner.org_id],
  );
  await em.execute(`insert into enabled_skills select ?, id from skills where org_id = ? and name like '%5'`, [
    agent_id,
    owner.org_id,
  ]);
  const pages: Listed[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await list(owner.personal_access_token, cursor === undefined ? {} : { cursor });
    pages.push(page);
    expect(JSON.stringify(page).length).toBeLessThan(24_000);
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(pages.length).toBeGreaterThan(1);
  const names = ["skill", ...Array.from({ length: 59 }, (_, n) => `skill-${String(n + 1).padStart(2, "0")}`)];
  const isEnabled = (name: string) => name.endsWith("5");
  const expected = [...names.filter(isEnabled), ...names.filter((name) => !isEnabled(name))];
  expect(pages.flatMap(({ skills }) => skills.map(({ name }) => name))).toEqual(expected);
});
