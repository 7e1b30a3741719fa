import { expect, test } from "vitest";
import { queryBuilderOf } from "../../../domain/database-types.ts";
import { RESPONSE_CHARACTERS } from "../../../domain/shared/response-budget.ts";
import { listAgentSkills } from "../../../domain/skills/list-agent-skills.ts";
import { callerOf, givenServer, tokenCipher } from "../../support/agents/given-server.ts";
import { ScriptedHosts } from "../../support/agents/scripted-hosts.ts";
import { sharedDatabase } from "../../support/database/shared-database.ts";

const orm = sharedDatabase();

/** Lists the skills of an agent in a gateway that has skills with these names; those in capital letters are eligible. */
async function givenSkills(names: string[], description = "") {
  const { orgId, serverId, agentIds } = await givenServer(orm(), { agents: ["main"] });
  const hosts = new ScriptedHosts();
  hosts.of(serverId).skills = names.map((name) => ({
    name,
    description,
    source: "gateway",
    eligible: name === name.toUpperCase(),
    missing: [],
  }));
  const deps = { db: queryBuilderOf(orm().em.fork()), hosts, tokenCipher, managedHost: () => expect.unreachable() };
  return (cursor?: string) =>
    listAgentSkills(deps, callerOf(orgId), { agent_id: agentIds[0], ...(cursor !== undefined && { cursor }) });
}

test("the skills that a gateway lists in any order are sorted: first those that the agent can run, both by name", async () => {
  const list = await givenSkills(["b", "C", "a", "A", "d", "B", "c"]);
  const { skills, next_cursor: next } = await list();
  expect([skills.map(({ name }) => name), next]).toEqual([["A", "B", "C", "a", "b", "c", "d"], null]);
});

test("a page ends at the size limit of a response, and the next one begins after it", async () => {
  const names = Array.from({ length: 60 }, (_, index) => `skill ${String(index).padStart(2, "0")}`);
  const list = await givenSkills([...names.map((name) => name.toUpperCase()), ...names], "x".repeat(1000));
  const listed: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await list(cursor);
    expect(JSON.stringify(page).length).toBeLessThanOrEqual(RESPONSE_CHARACTERS);
    listed.push(...page.skills.map(({ name }) => name));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  expect(listed).toEqual([...names.map((name) => name.toUpperCase()), ...names]);
});

test("an agent without skills has an empty list", async () => {
  const list = await givenSkills([]);
  expect(await list()).toMatchObject({ skills: [], note: null, next_cursor: null });
});
