import { expect, test } from "vitest";
import type { ScopeKey } from "../../domain/search/search-scope.ts";
import { updateScope } from "../../domain/search/update-scopes.ts";
import { TEXT_READERS } from "../../server/worker/text-readers.ts";
import { discoveredProcedure, givenProcedures } from "../support/edge/live-app.ts";
import { listServers } from "../support/service/main-agent.ts";
import { TestScope } from "../support/search/test-scope.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness();

/** Checks that an index that is built again equals the one that the writes have built. */
async function expectSameAfterUpdate(key: ScopeKey): Promise<void> {
  const scope = new TestScope(service, key);
  const before = await scope.readRows();
  expect(before.postings.length).toBeGreaterThan(0);
  await scope.makeOld();
  const { db } = service().service.parts;
  while (await updateScope(db, key, TEXT_READERS[key.kind]!, "wait"));
  const after = await scope.readRows();
  const { text_count, total_length, analyzer_version } = before.scope!;
  expect(after.scope).toMatchObject({ text_count, total_length, analyzer_version, postings_set: 1 });
  const contentOf = ({ postings }: typeof after) =>
    postings.map(({ term, count, data }) => [term, count, Buffer.from(data).toString("hex")]);
  expect(contentOf(after)).toEqual(contentOf(before));
}

test("documents of Company Knowledge and of a project are indexed again as they were", async () => {
  const tenant = await service().tenant();
  const document = { title: "Leave", content: "# Vacation\n\nEveryone has 30 days.\n\n# Sick leave\n\nCall us." };
  await tenant.rest.post("/v1/knowledge/documents", { kind: "policy", ...document });
  await tenant.rest.post("/v1/knowledge/documents", {
    kind: "faq",
    title: "Antworten",
    content: "Die Häuser.",
    language: "german",
  });
  const { body: project } = await tenant.rest.post("/v1/projects", { name: "One", kind: "client", description: "" });
  const projectId = String(project["project_id"]);
  await tenant.rest.post(`/v1/projects/${projectId}/documents`, document);
  const orgId = tenant.org_id;
  await expectSameAfterUpdate({ orgId, kind: "knowledge", ownerId: orgId });
  await expectSameAfterUpdate({ orgId, kind: "project", ownerId: projectId });
});

test("procedures of live apps are indexed again as they were", async () => {
  const tenant = await service().tenant();
  for (const name of ["billing", "crm"]) {
    const inputSchema = { type: "object", properties: { customerEmail: { type: "string" } } };
    const listed = discoveredProcedure("invoices.list", "query", { description: "Lists all invoices.", inputSchema });
    await givenProcedures(service(), await service().givenApp(tenant, { name }), [
      listed,
      discoveredProcedure("doAll"),
    ]);
  }
  await expectSameAfterUpdate({ orgId: tenant.org_id, kind: "procedures", ownerId: tenant.org_id });
});

test("memories of an agent are indexed again as they were", async () => {
  const tenant = await service().tenant();
  const [server] = await listServers(tenant.rest);
  const { body } = await tenant.rest.post("/v1/agents", { server_id: server!.server_id, name: "Agent" });
  const agentId = String(body["agent_id"]);
  for (const [kind, content] of [
    ["fact", "The office is in Berlin."],
    ["preference", "Short answers are preferred."],
  ])
    await tenant.rest.post(`/v1/agents/${agentId}/memories`, { content, kind });
  await expectSameAfterUpdate({ orgId: tenant.org_id, kind: "memory", ownerId: agentId });
});
