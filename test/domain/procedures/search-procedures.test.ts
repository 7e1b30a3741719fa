import { expect, test } from "vitest";
import type { Caller } from "../../../domain/shared/caller.ts";
import { type SearchHit, searchProcedures } from "../../../domain/procedures/search-procedures.ts";
import { discoveredProcedure, givenProcedures } from "../../support/edge/live-app.ts";
import type { Tenant } from "../../support/service/harness.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

function search(tenant: Tenant, query: string, { limit = 50, app }: { limit?: number; app?: string } = {}) {
  const caller = { orgId: tenant.org_id } as Caller;
  return searchProcedures({ db: service().service.parts.db }, caller, { query, limit, app });
}

test("a hit shows the app, the beginning of the description, a snippet, the direct tool and a rounded score", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant, { name: "billing" });
  const invoices = { ...discoveredProcedure("invoices.create"), description: `Invoices. ${"x".repeat(400)}` };
  await givenProcedures(service(), app, [invoices, discoveredProcedure("contacts.create")]);
  const other = await service().tenant();
  await givenProcedures(service(), await service().givenApp(other), [discoveredProcedure("invoices.steal")]);
  const { hits, cut } = await search(tenant, "invoices");
  expect(hits).toEqual([
    {
      app_id: app.id,
      app: app.slug,
      procedure: "invoices.create",
      kind: invoices.kind,
      description: invoices.description.slice(0, 400),
      snippet: expect.stringContaining("invoices.create("),
      direct_tool: `${app.slug}_invoices_create`,
      score: expect.any(Number),
    },
  ]);
  const [{ score }] = hits as [SearchHit];
  expect(score).toBe(Math.round(score * 100) / 100);
  expect(score).toBeGreaterThan(0);
  expect(cut).toBeNull();
  expect((await search(tenant, "create", { app: app.slug })).hits).toHaveLength(2);
  expect((await search(tenant, "create", { app: "another" })).hits).toEqual([]);
  expect((await search(tenant, "create", { limit: 1 })).hits).toHaveLength(1);
});

test("hits that do not fit into a response are left out, with advice; an app with many procedures has no direct tools", async () => {
  const tenant = await service().tenant();
  const app = await service().givenApp(tenant, { name: "large" });
  const many = Array.from({ length: 150 }, (_, at) => ({
    ...discoveredProcedure(`things.list${at}`),
    description: "Lists things.",
  }));
  await givenProcedures(service(), app, many);
  const result = await search(tenant, "things", { limit: 150 });
  expect(JSON.stringify(result).length).toBeLessThanOrEqual(24_000);
  expect(JSON.stringify(result).length).toBeGreaterThan(23_000);
  expect(result.cut).toMatch(new RegExp(`^Contains only the best ${result.hits.length} of 150 hits, .*search one app`));
  for (const { direct_tool: tool } of result.hits) expect(tool).toBeNull();
});
