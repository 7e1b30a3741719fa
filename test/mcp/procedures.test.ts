import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, test } from "vitest";
import { isReservedToolName } from "../../domain/procedures/direct-tool-names.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const service = sharedHarness({ worker: true, sharesBuilds: true });

async function deployExample(tenant: Tenant, example: string): Promise<{ id: string; slug: string }> {
  const { body } = await tenant.rest.deploy({ repo: `examples/${example}` });
  const id = String(body["app_id"]);
  expect((await service().waitForStatus(tenant, id)).body).toMatchObject({ status: "ready" });
  return { id, slug: String(body["slug"]) };
}

async function listDirectTools(gateway: GatewayClient): Promise<string[]> {
  return (await gateway.tools()).map(({ name }) => String(name)).filter((name) => !isReservedToolName(name));
}

const createGateway = (tenant: Tenant) => new GatewayClient(service().service.publicUrl, tenant.personal_access_token);

verifies(
  ["tool.direct"],
  "each procedure of an app with five is a direct tool that uses the app's database, until the app is deleted",
  async () => {
    const tenant = await service().tenant();
    const other = await service().tenant();
    const gateway = createGateway(tenant);
    expect(await listDirectTools(gateway)).toEqual([]);
    const { id, slug } = await deployExample(tenant, "invoices");
    const names = ["create", "get", "list", "markPaid", "outstanding"].map((procedure) => `${slug}_${procedure}`);
    expect(await listDirectTools(gateway)).toEqual(names);
    expect(await listDirectTools(createGateway(other))).toEqual([]);
    const made = await gateway.tool(`${slug}_create`, { customer: "Acme", cents: 1250, due: "2026-12-24" });
    expect(made.structuredContent).toEqual({
      output: { id: 1, customer: "Acme", cents: 1250, due: "2026-12-24", paid: false },
    });
    const sum = await gateway.tool(`${slug}_outstanding`);
    expect(sum.structuredContent).toEqual({ output: { count: 1, cents: 1250 } });
    const foreignCall = await createGateway(other).call("tools/call", { name: `${slug}_outstanding`, arguments: {} });
    expect(foreignCall.body.error).toMatchObject({ code: -32_602 });
    await tenant.rest.delete(`/v1/apps/${id}`);
    expect(await listDirectTools(gateway)).toEqual([]);
  },
);

verifies(
  "tool.direct",
  "an error response of an app is returned as data, and is not an internal error of the gateway",
  async () => {
    const tenant = await service().tenant();
    const { slug } = await deployExample(tenant, "invoices");
    const refused = await createGateway(tenant).tool(`${slug}_create`, { customer: "", cents: -1 });
    expect(refused.isError).toBe(true);
    expect(refused.structuredContent).toEqual({
      app_error: {
        status: 400,
        message: expect.stringMatching(
          /^Invalid arguments: customer: .+; cents: .+; due: .+\. Arguments: customer, cents, due\.$/,
        ),
      },
    });
    const missing = await createGateway(tenant).tool(`${slug}_get`, { id: 99 });
    expect(missing.structuredContent).toEqual({ app_error: { status: 404, message: "Invoice not found" } });
    expect(service().logged()).not.toContain("a tool failed");
  },
);

verifies(
  ["tool.service_docs_search", "tool.service_docs_search.hits"],
  "a search returns procedures with a typed call and their direct tool, and none of another organization",
  async () => {
    const tenant = await service().tenant();
    const { id, slug } = await deployExample(tenant, "invoices");
    const found = await createGateway(tenant).tool("service_docs_search", { query: "mark an invoice as paid" });
    const [best] = found.structuredContent["hits"] as Record<string, unknown>[];
    expect(best).toEqual({
      app_id: id,
      app: slug,
      procedure: "markPaid",
      kind: "mutation",
      description: "Marks an invoice as paid. Safe to repeat.",
      snippet: expect.stringContaining(`await service.apps["${slug}"].markPaid({ id: 1 })`),
      direct_tool: `${slug}_markPaid`,
      score: expect.any(Number),
    });
    const other = await service().tenant();
    const nothing = await createGateway(other).tool("service_docs_search", { query: "invoice" });
    expect(nothing.structuredContent).toEqual({ hits: [], cut: null });
    await tenant.rest.delete(`/v1/apps/${id}`);
    const gone = await createGateway(tenant).tool("service_docs_search", { query: "invoice" });
    expect(gone.structuredContent).toEqual({ hits: [], cut: null });
  },
);

test("a listening client is notified when an app of its organization becomes ready or is deleted, and of no other apps", async () => {
  const tenant = await service().tenant();
  const other = await service().tenant();
  const notified: string[] = [];
  const clients = await Promise.all(
    (
      [
        ["own", tenant],
        ["foreign", other],
      ] as const
    ).map(async ([name, { personal_access_token: token }]) => {
      const client = new Client({ name, version: "1.0.0" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
      const headers = { authorization: `Bearer ${token}` };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${service().service.publicUrl}/mcp`), { requestInit: { headers } }),
      );
      client.setNotificationHandler("notifications/tools/list_changed", () => void notified.push(name));
      await client.listen({ toolsListChanged: true });
      return client;
    }),
  );
  try {
    const { id } = await deployExample(tenant, "hello");
    await waitFor(() => expect(notified).toEqual(["own"]));
    await tenant.rest.delete(`/v1/apps/${id}`);
    await waitFor(() => expect(notified).toEqual(["own", "own"]));
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
});

verifies(
  "limits.direct_tools",
  "procedures of an app with more than five are found by search and have no direct tools",
  async () => {
    const tenant = await service().tenant();
    const { slug } = await deployExample(tenant, "crm");
    expect(await listDirectTools(createGateway(tenant))).toEqual([]);
    const found = await createGateway(tenant).tool("service_docs_search", { query: "create a contact", app: slug });
    const [best] = found.structuredContent["hits"] as { procedure: string; direct_tool: string | null }[];
    expect(best).toMatchObject({ procedure: "contacts.create", direct_tool: null });
  },
);

verifies("tool.direct", "apps with an OpenAPI document or an MCP endpoint have direct tools too", async () => {
  const tenant = await service().tenant();
  const [tasks, notes] = [await deployExample(tenant, "tasks-api"), await deployExample(tenant, "notes-mcp")];
  const names = await listDirectTools(createGateway(tenant));
  for (const { slug } of [tasks, notes]) expect(names.some((name) => name.startsWith(`${slug}_`))).toBe(true);
});
