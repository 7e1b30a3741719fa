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

/** An app that is ready, with a procedure, without anything having been built. */
async function givenOffer(tenant: Tenant, name: string, createdAt: Date): Promise<App> {
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

/** Every tool, and what one could ask it about an app at a slug, or from a cursor on. A new tool is added here. */
const QUESTIONS: Record<string, (slug: string, cursor: string) => object[]> = {
  service_list_apps: (_slug, cursor) => [{}, { cursor }, { cursor, limit: 1 }],
  service_docs_search: (slug) => [
    { query: "reads theirs", limit: 50 },
    { query: "reads", app: slug },
  ],
  service_execute: (slug) => [
    {
      code: `
        const tell = (error) => console.log(error.code, error.message);
        await service.apps[${JSON.stringify(slug)}]["theirs.read"]({}).then(console.log, tell);
        await service.tools.service_docs_search({ query: "reads", app: ${JSON.stringify(slug)} }).then(({ hits }) => console.log(hits.length), tell);`,
    },
  ],
  service_get_usage: () => [{}],
};

verifies(
  hazard(33),
  "no tool tells another organization's app from one that never existed, by any cursor, filter or name",
  async () => {
    const [tenant, other] = [await service().tenant(), await service().tenant()];
    const own = await givenOffer(tenant, "ours", day(2));
    const foreign = [await givenOffer(other, "theirs", day(1)), await givenOffer(other, "theirs", day(3))];
    const page = await gatewayOf(other).tool("service_list_apps", { limit: 1 });
    const cursor = String(page.structuredContent["next_cursor"]);
    const gateway = gatewayOf(tenant);
    const tools = (await gateway.tools()).map(({ name }) => String(name));
    expect(tools.toSorted()).toEqual([...Object.keys(QUESTIONS), `${own.slug}_ours_read`].toSorted());

    /** All answers, with the slug that was asked for and every number taken out. */
    const answersAbout = async (slug: string): Promise<string> => {
      const calls = Object.entries(QUESTIONS).flatMap(([name, inputs]) =>
        inputs(slug, cursor).map((input) => ({ name, arguments: input })),
      );
      calls.push({ name: `${slug}_theirs_read`, arguments: {} });
      const answers: string[] = [];
      for (const call of calls) answers.push((await gateway.call("tools/call", call)).text);
      return answers.join("\n").replaceAll(slug, "SLUG").replaceAll(/\d+/g, "0");
    };
    const absent = await answersAbout(slugFor("theirs"));
    expect(absent).toContain(own.slug.replaceAll(/\d+/g, "0"));
    for (const { slug } of foreign) expect(await answersAbout(slug)).toBe(absent);
    expect(absent).not.toContain("theirs");
  },
);

verifies(hazard(33), "the list of apps is the organization's own, whatever the query string asks for", async () => {
  const [tenant, other] = [await service().tenant(), await service().tenant()];
  await givenOffer(tenant, "ours", day(2));
  const { id, slug } = await givenOffer(other, "theirs", day(1));
  const plain = await tenant.rest.get("/v1/apps");
  for (const query of [`org_id=${other.org_id}`, `id=${id}`, `slug=${slug}`, "cursor=&limit=100", "where[org_id][]=x"])
    expect((await tenant.rest.get(`/v1/apps?${query}`)).text).toBe(plain.text);
  expect(plain.text).not.toContain("theirs");
});

verifies(
  hazard(28),
  "an organization header that names another organization is refused by the gateway, like an absent one, and ignored by REST",
  async () => {
    const [tenant, other] = [await service().tenant(), await service().tenant()];
    await givenOffer(other, "theirs", day(1));
    const { id } = await givenOffer(tenant, "ours", day(1));
    const gateway = gatewayOf(tenant);
    const asked = (named: string, method = "tools/list") =>
      gateway.call(method, undefined, { "x-service-org-id": named });
    const absent = await asked(randomUUID());
    const others = [
      other.org_id,
      "",
      "*",
      "null",
      `${tenant.org_id},${other.org_id}`,
      `${other.org_id}, ${tenant.org_id}`,
    ];
    for (const named of others) {
      const { status, text } = await asked(named);
      expect([named, status, text]).toEqual([named, 403, absent.text]);
      const listed = await tenant.rest.get("/v1/apps", { "x-service-org-id": named });
      expect([listed.status, (listed.body["apps"] as { id: string }[]).map((app) => app.id)]).toEqual([200, [id]]);
    }
    expect((await asked(tenant.org_id)).status).toBe(200);
  },
);
