import { expect, test } from "vitest";
import { importTranscript } from "../../../domain/sessions/import/import-transcript.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { claudeFile } from "../../support/service/import-transcript.ts";
import { mainAgentId } from "../../support/service/main-agent.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

test("a caller with the gateway token of an agent imports transcripts for this agent only", async () => {
  const { rest, org_id: orgId } = await service().tenant();
  const main = await mainAgentId(rest);
  const { body } = await rest.post("/v1/agents", { name: "Invoices" });
  const { orm, service: deps } = service().service.parts;
  const importAs = async (agentId: string) => {
    const credential = { kind: "api_key", id: "test" } as const;
    const caller: Caller = { orgId, userId: null, role: "admin", scope: "everything", credential, agentId };
    const file = new Blob([claudeFile(1)]).stream();
    return importTranscript({ ...deps, em: orm.em }, caller, { agent_id: main, file });
  };
  await expect(importAs(String(body["agent_id"]))).rejects.toMatchObject({ code: "forbidden" });
  expect(await importAs(main)).toMatchObject({ added: 1 });
});
