import { beforeAll, expect, test } from "vitest";
import { declareRuntime, readRuntime } from "../../../domain/agents/declare-runtime.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { enableSkill } from "../../../domain/skills/enable-skill.ts";
import { listAgentSkills } from "../../../domain/skills/list-agent-skills.ts";
import { uploadSkill } from "../../../domain/skills/upload-skill.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { mainAgentId } from "../../support/service/main-agent.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { skillDocument, skillsOf } from "../../support/service/skills.ts";

const service = sharedHarness();
let tenant: Tenant;
let caller: Caller & { agentId: string };
let otherId: string;

beforeAll(async () => {
  tenant = await service().tenant();
  const servers = (await tenant.rest.get("/v1/servers")).body["servers"] as { server_id: string }[];
  const { body } = await tenant.rest.post("/v1/agents", { server_id: servers[0]!.server_id, name: "Other" });
  otherId = String(body["agent_id"]);
  const credential = { kind: "gateway_token", id: "token" } as const;
  const agentId = await mainAgentId(tenant.rest);
  caller = { orgId: tenant.org_id, userId: null, role: "member", scope: "everything", credential, agentId };
  await skillsOf(tenant.rest).uploadDocument("notes");
});

const deps = () => service().service.parts.service;

test("an agent enables skills and declares a runtime for itself", async () => {
  expect(await enableSkill(deps(), caller, { name: "notes", enabled: true })).toMatchObject({
    agent_id: caller.agentId,
    enabled: true,
  });
  const runtime = await declareRuntime(deps(), caller, { id: caller.agentId, platform: "linux" });
  expect(await readRuntime(deps(), caller, caller.agentId)).toEqual(runtime);
  expect(await readRuntime(deps(), caller, otherId)).toMatchObject({ declared: false, platform: null });
  expect((await listAgentSkills(deps(), caller, {})).skills).toMatchObject([{ name: "notes", eligible: true }]);
});

test("an agent changes nothing of another agent", async () => {
  const files = [{ path: "SKILL.md", content: skillDocument("extra") }];
  for (const change of [
    () => enableSkill(deps(), caller, { agent_id: otherId, name: "notes", enabled: true }),
    () => declareRuntime(deps(), caller, { id: otherId, platform: "linux" }),
    () => uploadSkill(deps(), caller, { name: "extra", files, agent_ids: [otherId] }),
  ])
    await expect(change()).rejects.toMatchObject({
      code: "forbidden",
      message: expect.stringContaining("only its own agent"),
    });
  expect((await listAgentSkills(deps(), caller, { agent_id: otherId })).skills).toMatchObject([
    { name: "notes", eligible: false },
  ]);
  expect(await readRuntime(deps(), caller, otherId)).toMatchObject({ declared: false, platform: null });
});

test("an agent uploads a skill and enables it for itself", async () => {
  const files = [{ path: "SKILL.md", content: skillDocument("own") }];
  await uploadSkill(deps(), caller, { name: "own", files, agent_ids: [caller.agentId.toUpperCase()] });
  expect((await listAgentSkills(deps(), caller, {})).skills).toContainEqual(
    expect.objectContaining({ name: "own", eligible: true }),
  );
});

test("a gateway token is not valid for REST, where skills are changed", async () => {
  const token = await tenant.rest.post("/v1/tokens", { kind: "gateway_token", name: "t", agent_id: caller.agentId });
  const { upload } = skillsOf(tenant.rest.as(String(token.body["token"])));
  expect((await upload("notes", { files: [] })).status).toBe(401);
});
