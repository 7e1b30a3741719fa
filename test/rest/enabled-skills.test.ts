import { expect, test } from "vitest";
import { EnabledSkill } from "../../domain/agents/enabled-skill.entity.ts";
import { removeEnabledSkills } from "../../domain/agents/remove-enabled-skills.ts";
import { SkillFile } from "../../domain/skills/skill-file.entity.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { requires, skillsOf } from "../support/service/skills.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
const em = () => service().service.parts.orm.em.fork();

async function givenTenant() {
  const tenant = await service().tenant();
  return { tenant, agentId: await mainAgentId(tenant.rest), ...skillsOf(tenant.rest) };
}

verifies(
  "agents.skills",
  "a skill is disabled for one agent, and other agents and skills stay as they are",
  async () => {
    const { tenant, agentId, uploadDocument, enable } = await givenTenant();
    const [{ server_id }] = (await tenant.rest.get("/v1/servers")).body["servers"] as [{ server_id: string }];
    const otherId = String((await tenant.rest.post("/v1/agents", { server_id, name: "Other" })).body["agent_id"]);
    const enabled = async () =>
      (await em().find(EnabledSkill, { agentId: { $in: [agentId, otherId] } })).map((row) => [
        row.agentId,
        row.skillId,
      ]);
    await uploadDocument("one", {}, { agent_ids: [agentId, agentId.toUpperCase(), otherId] });
    await uploadDocument("two");
    expect(await enabled()).toHaveLength(2);
    for (const id of [agentId, otherId, agentId]) expect((await enable(id, "two")).status).toBe(200);
    const before = await enabled();
    expect(before).toHaveLength(4);
    for (let repetition = 0; repetition < 2; repetition++)
      expect((await enable(agentId, "one", false)).body).toEqual({ agent_id: agentId, name: "one", enabled: false });
    const two = before.filter(([id]) => id === agentId).map(([, skill]) => skill);
    const after = await enabled();
    expect(after).toHaveLength(3);
    expect(after.filter(([id]) => id === otherId)).toHaveLength(2);
    expect(two).toContain(after.find(([id]) => id === agentId)![1]);
    expect((await tenant.rest.get(`/v1/agents/${agentId}/skills`)).body["skills"]).toMatchObject([
      { name: "two", eligible: true },
      { name: "one", eligible: false },
    ]);
  },
);

test("an agent of a gateway has no runtime and no enabled skills here", async () => {
  const { tenant, uploadDocument, enable, declare } = await givenTenant();
  const gateway = { name: "Gateway", kind: "openclaw", url: "wss://gateway.example.com", token: "secret" };
  const { agent_id: id } = (await tenant.rest.post("/v1/servers", gateway)).body["agent"] as { agent_id: string };
  await uploadDocument("notes");
  const responses = [
    await declare(id, { platform: "linux" }),
    await enable(id, "notes"),
    await uploadDocument("notes", {}, { agent_ids: [id] }),
  ];
  expect(responses.map(({ status, body }) => [status, body["error"]])).toEqual(
    responses.map(() => [409, expect.stringContaining("in an OpenClaw gateway")]),
  );
  expect((await tenant.rest.get(`/v1/agents/${id}/runtime`)).body).toMatchObject({ declared: false });
});

test("deleting an agent or a skill disables the skill, and nothing of a deleted skill is left", async () => {
  const { tenant, agentId, uploadDocument, remove } = await givenTenant();
  const [{ server_id }] = (await tenant.rest.get("/v1/servers")).body["servers"] as [{ server_id: string }];
  const agent = (await tenant.rest.post("/v1/agents", { server_id, name: "Short" })).body["agent_id"] as string;
  await uploadDocument("notes", {}, { agent_ids: [agentId, agent] });
  expect(await em().count(EnabledSkill, { agentId: { $in: [agent, agentId] } })).toBe(2);
  await tenant.rest.delete(`/v1/agents/${agent}`);
  const [left] = await em().find(EnabledSkill, { agentId: { $in: [agent, agentId] } });
  expect(left).toMatchObject({ agentId });
  expect(await em().count(SkillFile, { skillId: left!.skillId })).toBe(1);
  await remove("notes");
  expect(await em().count(EnabledSkill, { agentId })).toBe(0);
  expect(await em().count(SkillFile, { skillId: left!.skillId })).toBe(0);
});

test("until an agent declares its runtime, a note says that requirements of skills count as missing", async () => {
  const { tenant, agentId, uploadDocument, declare } = await givenTenant();
  const note = async () => (await tenant.rest.get(`/v1/agents/${agentId}/skills`)).body["note"];
  await uploadDocument("notes");
  expect(await note()).toBeNull();
  await uploadDocument("video", { frontmatter: requires({ requires: { bins: ["ffmpeg"] } }) });
  expect(await note()).toContain("has not declared its runtime");
  expect((await declare(agentId, {})).status).toBe(200);
  expect(await note()).toBeNull();
});

test("without agents to delete, every skill stays enabled", async () => {
  const { agentId, uploadDocument } = await givenTenant();
  await uploadDocument("notes", {}, { agent_ids: [agentId] });
  await removeEnabledSkills(service().service.parts.db, "agent_id", []);
  expect(await em().count(EnabledSkill, { agentId })).toBe(1);
});

test("a skill and a server with agents that use it are deleted at the same time", async () => {
  const { tenant, uploadDocument, remove } = await givenTenant();
  for (let round = 0; round < 5; round++) {
    const server = (await tenant.rest.post("/v1/servers", { name: "Temporary" })).body;
    const agents = [(server["agent"] as { agent_id: string }).agent_id];
    for (const name of ["One", "Two", "Three"]) {
      const { body } = await tenant.rest.post("/v1/agents", { server_id: server["server_id"], name });
      agents.push(String(body["agent_id"]));
    }
    for (const name of ["a", "b"]) await uploadDocument(name, {}, { agent_ids: agents });
    const deletions = [remove("a"), tenant.rest.delete(`/v1/servers/${String(server["server_id"])}`), remove("b")];
    expect((await Promise.all(deletions)).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(await em().count(EnabledSkill, { agentId: { $in: agents } })).toBe(0);
  }
});
