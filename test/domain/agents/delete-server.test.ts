import { expect, test } from "vitest";
import { InstructionRevision } from "../../../domain/agents/instruction-revision.entity.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

test("instructions that are stored while their server is being deleted are deleted with it", async () => {
  const { rest } = await service().tenant();
  const { body } = await rest.post("/v1/servers", { name: "Temporary" });
  const { agent_id: agentId } = body["agent"] as { agent_id: string };
  const { orm } = service().service.parts;
  const isBlocked = async (): Promise<boolean> => {
    const blocked = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
      and query like 'delete from "agents"%'`;
    return (await orm.em.fork().execute(blocked)).length > 0;
  };
  // As `setInstructions` does: it locks the agent, and then stores the revision.
  const deleted = await orm.em.fork().transactional(async (em) => {
    await em.execute("select id from agents where id = ? for update", [agentId]);
    const deletion = rest.delete(`/v1/servers/${String(body["server_id"])}`);
    await expect.poll(isBlocked).toBe(true);
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
