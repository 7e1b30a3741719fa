import { expect, test } from "vitest";
import { Agent } from "../../../domain/agents/agent.entity.ts";
import { InstructionRevision } from "../../../domain/agents/instruction-revision.entity.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

/** Whether a query that starts like this waits for a lock. */
async function isBlocked(start: string): Promise<boolean> {
  const blocked = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    and starts_with(query, ?)`;
  return (await service().service.parts.orm.em.fork().execute(blocked, [start])).length > 0;
}

test("instructions that are stored while their server is being deleted are deleted with it", async () => {
  const { rest } = await service().tenant();
  const { body } = await rest.post("/v1/servers", { name: "Temporary" });
  const { agent_id: agentId } = body["agent"] as { agent_id: string };
  const { orm } = service().service.parts;
  // As `setInstructions` does: it locks the agent, and then stores the revision.
  const deleted = await orm.em.fork().transactional(async (em) => {
    await em.execute("select id from agents where id = ? for update", [agentId]);
    const deletion = rest.delete(`/v1/servers/${String(body["server_id"])}`);
    await expect.poll(() => isBlocked('delete from "agents"')).toBe(true);
    em.create(InstructionRevision, {
      agentId,
      number: 1,
      content: "Late",
      contentHash: "0",
      revertedTo: null,
      userId: null,
      credentialKind: "api_key",
      credentialId: "test",
    });
    await em.flush();
    return { deletion };
  });
  expect((await deleted.deletion).body).toEqual({ status: "deleted" });
  expect(await orm.em.fork().count(InstructionRevision, { agentId })).toBe(0);
});

test("an agent that is added while its server is being deleted is deleted with it", async () => {
  const { rest, org_id: orgId } = await service().tenant();
  const serverId = String((await rest.post("/v1/servers", { name: "Temporary" })).body["server_id"]);
  const { orm } = service().service.parts;
  // As `createAgent` does: it locks the server, and then stores the agent.
  const added = await orm.em.fork().transactional(async (em) => {
    await em.execute("select id from agent_servers where id = ? for update", [serverId]);
    const deletion = rest.delete(`/v1/servers/${serverId}`);
    await expect.poll(() => isBlocked("")).toBe(true);
    em.create(Agent, { orgId, serverId, name: "Late", isMain: false });
    await em.flush();
    return { deletion };
  });
  expect((await added.deletion).body).toEqual({ status: "deleted" });
  expect(await orm.em.fork().count(Agent, { serverId })).toBe(0);
});
