import { beforeAll, expect, test } from "vitest";
import { explainCall, nodesOf, rowsRead } from "../../support/database/query-plans.ts";
import { sampleText, TestScope } from "../../support/search/test-scope.ts";
import { GivenMemories } from "../../support/service/given-memories.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const MEMORIES = 10_000;
/** 100 matches, four turns before and after 50 of them, 100 memories of a day, and the 50 that are returned. */
const READ = 100 + 50 * 8 + 100 + 50;
let memories: GivenMemories;

/** One memory a minute, the last one now. */
beforeAll(async () => {
  memories = await GivenMemories.create(service, await service().tenant());
  const { orgId } = memories.caller;
  const scope = new TestScope(service, { orgId, kind: "memory", ownerId: memories.agentId });
  await scope.add(
    ...Array.from({ length: MEMORIES }, (_, n) => sampleText(`Anna: shared word${n % 500}`, { category: 2 })),
  );
  const em = service().service.parts.orm.em.fork();
  await em.execute(
    `insert into memories (id, org_id, agent_id, kind, content, content_hash, meaning_hash, instruction_like, index_id, user_id,
       credential_kind, credential_id, created_at, updated_at)
     select gen_random_uuid(), ?, ?, 'fact', 'Anna: shared word' || n % 500, n, n, false, n, null, 'operator', 'test',
       now() - (? - n) * interval '1 minute', now() - (? - n) * interval '1 minute'
     from generate_series(0, ? - 1) n`,
    [orgId, memories.agentId, MEMORIES, MEMORIES, MEMORIES],
  );
  await em.execute("vacuum analyze memories, search_scopes, search_postings");
});

test("a recall with a period reads a bounded number of an agent's 10,000 memories, by an index", async () => {
  const plans = await explainCall(String(service().config.databaseUrl), ["memories"], () =>
    memories.recall("what was shared with word7 yesterday?"),
  );
  const scans = plans.flatMap(nodesOf).filter((node) => node["Relation Name"] === "memories");
  expect(scans.length).toBeGreaterThanOrEqual(3);
  expect(scans.map((node) => node["Node Type"])).not.toContain("Seq Scan");
  expect(scans.reduce((sum, node) => sum + rowsRead(node), 0)).toBeLessThanOrEqual(READ);
});
