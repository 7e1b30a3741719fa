import { expect, test } from "vitest";
import type { DiscoveredProcedure } from "../../domain/ports/procedure-discovery.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { discoveredProcedure, givenProcedures } from "../support/edge/live-app.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();

interface SearchResult {
  hits: { app: string; procedure: string; snippet: string; direct_tool: string | null; score: number }[];
  cut: string | null;
}

const createGateway = ({ personal_access_token: token }: Tenant) =>
  new GatewayClient(service().service.publicUrl, token);

async function search(tenant: Tenant, input: object): Promise<SearchResult> {
  const { structuredContent, text } = await createGateway(tenant).tool("service_docs_search", input);
  expect(JSON.parse(text)).toEqual(structuredContent);
  expect(text.length).toBeLessThanOrEqual(24_000);
  return structuredContent as unknown as SearchResult;
}

async function givenAppWith(tenant: Tenant, name: string, procedures: DiscoveredProcedure[]): Promise<string> {
  const app = await service().givenApp(tenant, { name });
  await givenProcedures(service(), app, procedures);
  return app.slug;
}

verifies(
  "tool.service_docs_search.hits",
  "hits are sorted by score, and each names its direct tool from the tool list",
  async () => {
    const tenant = await service().tenant();
    const small = await givenAppWith(tenant, "small", [
      discoveredProcedure("orders.cancel", "mutation", { description: "Cancels an order." }),
      discoveredProcedure("orders_cancel", "mutation", { description: "Cancels an order, as it was called before." }),
    ]);
    const many = ["a", "b", "c", "d", "e", "f"].map((name) => discoveredProcedure(`orders.${name}`));
    const large = await givenAppWith(tenant, "large", many);
    const { hits, cut } = await search(tenant, { query: "cancel an order", limit: 50 });
    expect(cut).toBeNull();
    expect(
      hits
        .slice(0, 2)
        .map(({ procedure }) => procedure)
        .toSorted(),
    ).toEqual(["orders.cancel", "orders_cancel"]);
    expect(hits.map(({ score }) => score)).toEqual(hits.map(({ score }) => score).toSorted((a, b) => b - a));
    const tools = (await createGateway(tenant).tools()).map(({ name }) => name);
    for (const { app, direct_tool: tool } of hits)
      if (app === small) expect(tools).toContain(tool);
      else expect([app, tool]).toEqual([large, null]);
    expect(new Set(hits.map(({ direct_tool: tool }) => tool)).size).toBe(3);
  },
);

test("a response that would be too long contains only the best hits, and says how many there are and how to narrow the search", async () => {
  const tenant = await service().tenant();
  const properties = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`field${at}`, { enum: LONG_WORDS }]));
  const inputSchema = { type: "object", properties };
  const procedures = Array.from({ length: 50 }, (_, at) =>
    discoveredProcedure(`report${at}`, "query", { description: `Reports "${at}". `.repeat(100), inputSchema }),
  );
  const slug = await givenAppWith(tenant, "reports", procedures);
  const { hits, cut } = await search(tenant, { query: "report", limit: 50 });
  expect(hits.length).toBeGreaterThan(3);
  expect(hits.length).toBeLessThan(50);
  expect(cut).toContain(`best ${hits.length} of 50 hits`);
  const narrowed = await search(tenant, { query: "report", limit: 3, app: slug });
  expect([narrowed.hits, narrowed.cut]).toEqual([hits.slice(0, 3), null]);
});

const LONG_WORDS = Array.from({ length: 12 }, (_, at) => `${at} ${"word ".repeat(50)}`);

test("a search in one app finds only its procedures, and another organization's app looks like an unknown app", async () => {
  const tenant = await service().tenant();
  const other = await service().tenant();
  const one = await givenAppWith(tenant, "one", [discoveredProcedure("orders.list")]);
  const two = await givenAppWith(tenant, "two", [discoveredProcedure("orders.read")]);
  const foreign = await givenAppWith(other, "three", [discoveredProcedure("orders.burn")]);
  expect((await search(tenant, { query: "orders", app: one })).hits.map(({ app }) => app)).toEqual([one]);
  expect((await search(tenant, { query: "orders" })).hits.map(({ app }) => app).toSorted()).toEqual(
    [one, two].toSorted(),
  );
  const searchIn = async (app: string) =>
    (
      await createGateway(tenant).call("tools/call", {
        name: "service_docs_search",
        arguments: { query: "orders", app },
      })
    ).text;
  expect(await searchIn(foreign)).toBe(await searchIn("three-k7m2xq"));
  expect(await searchIn(foreign)).not.toContain("burn");
});

test("the longest allowed query finds the procedure that its rare words mean", async () => {
  const tenant = await service().tenant();
  await givenAppWith(tenant, "shop", [
    discoveredProcedure("orders.list"),
    discoveredProcedure("refunds.make", "mutation"),
  ]);
  const query = "please make a refund of this ".repeat(17).trim();
  expect((await search(tenant, { query })).hits[0]).toMatchObject({ procedure: "refunds.make" });
});
