import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test, vi } from "vitest";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness({ worker: true });

async function deployed(tenant: Tenant, example: string): Promise<{ id: string; slug: string }> {
  const { body } = await tenant.rest.deploy({ repo: `examples/${example}` });
  const id = String(body["app_id"]);
  expect((await service().settled(tenant, id)).body).toMatchObject({ status: "ready" });
  return { id, slug: String(body["slug"]) };
}

async function toolNames(gateway: GatewayClient): Promise<string[]> {
  return (await gateway.tools()).map(({ name }) => String(name)).filter((name) => !name.startsWith("service_"));
}

const gatewayOf = (tenant: Tenant) => new GatewayClient(service().service.publicUrl, tenant.personal_access_token);

verifies(
  ["tool.direct"],
  "an app of five procedures has each as a tool, which writes to and reads from the app's own database, until it is deleted",
  async () => {
    const tenant = await service().tenant();
    const stranger = await service().tenant();
    const gateway = gatewayOf(tenant);
    expect(await toolNames(gateway)).toEqual([]);
    const { id, slug } = await deployed(tenant, "invoices");
    const names = ["create", "get", "list", "markPaid", "outstanding"].map((procedure) => `${slug}_${procedure}`);
    expect(await toolNames(gateway)).toEqual(names);
    expect(await toolNames(gatewayOf(stranger))).toEqual([]);
    const made = await gateway.tool(`${slug}_create`, { customer: "Acme", cents: 1250, due: "2026-12-24" });
    expect(made.structuredContent).toEqual({
      output: { id: 1, customer: "Acme", cents: 1250, due: "2026-12-24", paid: false },
    });
    const sum = await gateway.tool(`${slug}_outstanding`);
    expect(sum.structuredContent).toEqual({ output: { count: 1, cents: 1250 } });
    const stolen = await gatewayOf(stranger).call("tools/call", { name: `${slug}_outstanding`, arguments: {} });
    expect(stolen.body.error).toMatchObject({ code: -32_602 });
    await tenant.rest.delete(`/v1/apps/${id}`);
    expect(await toolNames(gateway)).toEqual([]);
  },
);

verifies(
  "tool.direct",
  "what an app refuses comes back as the app's own words, and is no fault of the gateway",
  async () => {
    const tenant = await service().tenant();
    const { slug } = await deployed(tenant, "invoices");
    const refused = await gatewayOf(tenant).tool(`${slug}_create`, { customer: "", cents: -1 });
    expect(refused.isError).toBe(true);
    expect(refused.structuredContent).toEqual({
      app_error: { status: 400, message: expect.stringContaining("customer") },
    });
    const missing = await gatewayOf(tenant).tool(`${slug}_get`, { id: 99 });
    expect(missing.structuredContent).toEqual({ app_error: { status: 404, message: "Invoice not found" } });
    expect(service().logged()).not.toContain("a tool failed");
  },
);

verifies(
  ["tool.service_docs_search", "tool.service_docs_search.hits"],
  "a search finds procedures by what they do, with a typed call and the direct tool, and none of another organization's",
  async () => {
    const tenant = await service().tenant();
    const { id, slug } = await deployed(tenant, "invoices");
    const found = await gatewayOf(tenant).tool("service_docs_search", { query: "mark an invoice as paid" });
    const [best] = found.structuredContent["hits"] as Record<string, unknown>[];
    expect(best).toEqual({
      app_id: id,
      app: slug,
      procedure: "markPaid",
      kind: "mutation",
      description: "Marks an invoice as paid. Safe to repeat.",
      snippet: expect.stringContaining(`await service.apps["${slug}"].markPaid({ id: number })`),
      direct_tool: `${slug}_markPaid`,
      score: expect.any(Number),
    });
    const stranger = await service().tenant();
    const nothing = await gatewayOf(stranger).tool("service_docs_search", { query: "invoice" });
    expect(nothing.structuredContent).toEqual({ hits: [], cut: null });
    await tenant.rest.delete(`/v1/apps/${id}`);
    const gone = await gatewayOf(tenant).tool("service_docs_search", { query: "invoice" });
    expect(gone.structuredContent).toEqual({ hits: [], cut: null });
  },
);

test("a client that listens is told when an app becomes ready and when it goes, and of nobody else's", async () => {
  const tenant = await service().tenant();
  const stranger = await service().tenant();
  const heard: string[] = [];
  const clients = await Promise.all(
    (
      [
        ["own", tenant],
        ["foreign", stranger],
      ] as const
    ).map(async ([name, { personal_access_token: token }]) => {
      const client = new Client({ name, version: "1.0.0" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
      const headers = { authorization: `Bearer ${token}` };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${service().service.publicUrl}/mcp`), { requestInit: { headers } }),
      );
      client.setNotificationHandler("notifications/tools/list_changed", () => void heard.push(name));
      await client.listen({ toolsListChanged: true });
      return client;
    }),
  );
  try {
    const { id } = await deployed(tenant, "hello");
    await vi.waitFor(() => expect(heard).toEqual(["own"]), 10_000);
    await tenant.rest.delete(`/v1/apps/${id}`);
    await vi.waitFor(() => expect(heard).toEqual(["own", "own"]), 10_000);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
});

verifies(
  "limits.direct_tools",
  "an app of more than five procedures is found by search, and has no tools of its own",
  async () => {
    const tenant = await service().tenant();
    const { slug } = await deployed(tenant, "crm");
    expect(await toolNames(gatewayOf(tenant))).toEqual([]);
    const found = await gatewayOf(tenant).tool("service_docs_search", { query: "create a contact", app: slug });
    const [best] = found.structuredContent["hits"] as { procedure: string; direct_tool: string | null }[];
    expect(best).toMatchObject({ procedure: "contacts.create", direct_tool: null });
  },
);

verifies(
  "tool.direct",
  "an app that is described by OpenAPI, and one that serves MCP, have their tools too",
  async () => {
    const tenant = await service().tenant();
    const [tasks, notes] = [await deployed(tenant, "tasks-api"), await deployed(tenant, "notes-mcp")];
    const names = await toolNames(gatewayOf(tenant));
    for (const { slug } of [tasks, notes]) expect(names.some((name) => name.startsWith(`${slug}_`))).toBe(true);
  },
);
