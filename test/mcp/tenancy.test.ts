import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import type { App } from "../../domain/apps/app.entity.ts";
import { slugFor } from "../../domain/apps/slug.ts";
import type { DiscoveredProcedure } from "../../domain/ports/procedure-discovery.ts";
import { replaceProcedures } from "../../domain/procedures/replace-procedures.ts";
import { newestDeployment } from "../support/service/given-app.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const service = sharedHarness();

/** Inserts a ready app with one procedure, without a build. */
async function insertAppWithProcedure(tenant: Tenant, name: string, createdAt: Date): Promise<App> {
  const app = await service().givenApp(tenant, { name, createdAt });
  const procedure: DiscoveredProcedure = {
    name: `${name}.read`,
    kind: "query",
    description: `Reads ${name}`,
    inputSchema: {},
    outputSchema: null,
    invocation: { via: "trpc", endpoint: "/trpc", transformer: "none" },
  };
  const em = service().service.parts.orm.em.fork();
  await em.transactional((tx) => replaceProcedures(tx, newestDeployment(app), [procedure]));
  return app;
}

const gatewayOf = ({ personal_access_token: token }: Tenant) => new GatewayClient(service().service.publicUrl, token);
const day = (number: number) => new Date(Date.UTC(2026, 0, number));

interface Target {
  slug: string;
  id: string;
  cursor: string;
}

/** Inputs for every tool that refer to an app by its slug or id, or to a page by its cursor. Add new tools here. */
const INPUTS: Record<string, (target: Target) => object[]> = {
  company_knowledge_get: ({ id }) => [{ document_id: id }],
  company_knowledge_search: () => [{ query: "theirs" }],
  project_search: ({ id }) => [{ project_id: id, query: "theirs" }],
  projects_list: ({ id, cursor }) => [{}, { agent_id: id }, { cursor }],
  memory_recall: ({ id }) => [{ query: "reads" }, { query: "reads", agent_id: id }],
  memory_write: ({ id }) => [
    { content: "Ours", kind: "fact", agent_id: id },
    { content: "Ours", kind: "fact", replaces: id },
  ],
  service_list_apps: ({ cursor }) => [{}, { cursor }, { cursor, limit: 1 }],
  service_deploy_app: () => [],
  service_redeploy_app: ({ id, slug }) => [{ app_id: id }, { app_id: slug }],
  service_rollback_app: ({ id, slug }) => [
    { app_id: id, number: 1 },
    { app_id: slug, number: 1 },
  ],
  service_promote_app: ({ id, slug }) => [
    { app_id: id, from: "staging" },
    { app_id: slug, from: "production" },
  ],
  service_get_app_logs: ({ id, slug }) => [{ app_id: id }, { app_id: id, number: 1 }, { app_id: slug }],
  service_get_app_changes: ({ id, slug }) => [
    { app_id: id, number: 1 },
    { app_id: slug, number: 1 },
  ],
  service_delete_app: ({ id, slug }) => [{ app_id: id }, { app_id: slug }],
  service_list_deployments: ({ id, slug }) => [{ app_id: id }, { app_id: slug }],
  service_get_runtime_logs: ({ id, slug }) => [{ app_id: id }, { app_id: slug }],
  service_list_variables: ({ id, slug }) => [{ app_id: id }, { app_id: slug }],
  service_set_variable: ({ id, slug }) => [
    { app_id: id, name: "OURS", value: "1" },
    { app_id: slug, name: "OURS", value: "1" },
  ],
  service_docs_search: ({ slug }) => [
    { query: "reads theirs", limit: 50 },
    { query: "reads", app: slug },
  ],
  service_execute: ({ slug, id }) => [
    { code: "1", agent_id: id },
    {
      code: `
        const print = (error) => console.log(error.code, error.message);
        await service.apps[${JSON.stringify(slug)}]["theirs.read"]({}).then(console.log, print);
        await service.tools.service_docs_search({ query: "reads", app: ${JSON.stringify(slug)} }).then(({ hits }) => console.log(hits.length), print);`,
    },
  ],
  service_get_usage: () => [{}],
  service_list_agents: ({ cursor }) => [{}, { cursor }],
  service_list_agent_sessions: ({ id, cursor }) => [{}, { cursor }, { agent_id: id }, { server_id: id }],
  service_get_session_transcript: ({ id }) => [{ session_id: id }],
  service_list_agent_skills: ({ id, cursor }) => [{}, { agent_id: id }, { cursor }],
  service_get_agent_instructions: ({ id }) => [{}, { agent_id: id }],
  service_set_agent_instructions: ({ id }) => [{ agent_id: id, content: "Ours" }],
};

verifies(
  hazard(33),
  "every tool gives the same response for another organization's app and for an unknown app, by slug, id, cursor or name",
  async () => {
    const [tenant, other] = [await service().tenant(), await service().tenant()];
    const own = await insertAppWithProcedure(tenant, "ours", day(2));
    const foreign = [
      await insertAppWithProcedure(other, "theirs", day(1)),
      await insertAppWithProcedure(other, "theirs", day(3)),
    ];
    const page = await gatewayOf(other).tool("service_list_apps", { limit: 1 });
    const cursor = String(page.structuredContent["next_cursor"]);
    const gateway = gatewayOf(tenant);
    const tools = (await gateway.tools()).map(({ name }) => String(name));
    expect(tools.toSorted()).toEqual([...Object.keys(INPUTS), `${own.slug}_ours_read`].toSorted());

    /** Calls every tool. Returns the responses without the slug, without numbers, and without similar names, which are own ones. */
    const callAllTools = async ({ slug, id }: Pick<Target, "slug" | "id">): Promise<string> => {
      const calls = Object.entries(INPUTS).flatMap(([name, inputs]) =>
        inputs({ slug, id, cursor }).map((input) => ({ name, arguments: input })),
      );
      calls.push({ name: `${slug}_theirs_read`, arguments: {} });
      const responses: string[] = [];
      await service().service.parts.orm.em.fork().execute("delete from rate_limit_windows");
      for (const call of calls) responses.push((await gateway.call("tools/call", call)).text);
      const text = responses.join("\n").replaceAll(/ Did you mean [^?]*\?/g, "");
      return text.replaceAll(slug, "SLUG").replaceAll(/\d+/g, "0");
    };
    const forUnknown = await callAllTools({ slug: slugFor("theirs"), id: randomUUID() });
    expect(forUnknown).toContain(own.slug.replaceAll(/\d+/g, "0"));
    for (const app of foreign) expect(await callAllTools(app)).toBe(forUnknown);
    expect(forUnknown).not.toContain("theirs");
  },
);

verifies(
  hazard(33),
  "the list of apps ignores the query string and contains only apps of the organization",
  async () => {
    const [tenant, other] = [await service().tenant(), await service().tenant()];
    await insertAppWithProcedure(tenant, "ours", day(2));
    const { id, slug } = await insertAppWithProcedure(other, "theirs", day(1));
    const plain = await tenant.rest.get("/v1/apps");
    for (const query of [
      `org_id=${other.org_id}`,
      `id=${id}`,
      `slug=${slug}`,
      "cursor=&limit=100",
      "where[org_id][]=x",
    ])
      expect((await tenant.rest.get(`/v1/apps?${query}`)).text).toBe(plain.text);
    expect(plain.text).not.toContain("theirs");
  },
);

verifies(hazard(28), "the gateway rejects X-Service-Org-Id of another organization like an unknown one", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  await insertAppWithProcedure(other, "theirs", day(1));
  const gateway = gatewayOf(tenant);
  const callAs = (orgId: string, method = "tools/list") =>
    gateway.call(method, undefined, { "x-service-org-id": orgId });
  const unknown = await callAs(randomUUID());
  const foreignValues = [
    other.org_id,
    "",
    "*",
    "null",
    `${tenant.org_id},${other.org_id}`,
    `${other.org_id}, ${tenant.org_id}`,
  ];
  for (const value of foreignValues) {
    const { status, text } = await callAs(value);
    expect([value, status, text]).toEqual([value, 403, unknown.text]);
  }
  expect((await callAs(tenant.org_id)).status).toBe(200);
});
