import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import { dumpTables } from "../support/database/dump-tables.ts";
import { appRequest } from "../support/edge/app-request.ts";
import type { Tenant } from "../support/service/harness.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";

const { harness, repositories } = repositoriesHarness();

const SECRET = "first-secret-7Qx2";
const REGION = "region-8Kd4";

/** An app whose build fails without BUILD_LABEL. It shows what proves that it has the secret, not the secret. */
const FILES = {
  "package.json": JSON.stringify({ scripts: { build: "sh build.sh" } }),
  "build.sh": `echo "label=$BUILD_LABEL key=$API_KEY"; test -n "$BUILD_LABEL"`,
  "wrangler.jsonc": JSON.stringify({ name: "shop", main: "src/index.ts", compatibility_date: "2026-07-01" }),
  "src/index.ts": `export default {
    fetch: async (_request, env) => {
      const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(env.API_KEY));
      return Response.json({ digest: [...new Uint8Array(digest)], region: env.REGION });
    },
  };`,
};

const VARIABLES = [
  { name: "API_KEY", value: SECRET, secret: true },
  { name: "BUILD_LABEL", value: "blue", build: true },
  { name: "REGION", value: REGION },
];
const SHOWN = { digest: [...createHash("sha256").update(SECRET).digest()], region: REGION };

async function expectReady(tenant: Tenant, { app_id, url }: Record<string, unknown>): Promise<void> {
  const { body } = await harness().waitForStatus(tenant, String(app_id));
  expect(body).toMatchObject({ status: "ready" });
  expect(JSON.parse((await appRequest(String(url))).text)).toEqual(SHOWN);
}

test("the first build and the first start of an app have the variables of its deploy, and no value appears anywhere else", async () => {
  const tenant = await harness().tenant();
  await (await Repository.create(repositories(), "acme/shop")).commitFiles(FILES);
  const request = { repo: "acme/shop", variables: VARIABLES };
  const { publicUrl } = harness().service;
  const responses: unknown[] = [];
  const deployed = [
    (await tenant.rest.deploy(request, { "idempotency-key": "first" })).body,
    (await new GatewayClient(publicUrl, tenant.personal_access_token).tool("service_deploy_app", request))
      .structuredContent,
    await rpcClient(publicUrl, tenant.api_key).apps.deploy.mutate(request),
  ];
  for (const app of deployed) {
    await expectReady(tenant, { ...app });
    const path = `/v1/apps/${String(app["app_id"])}`;
    responses.push(app);
    for (const rest of ["", "/deployments", "/logs"]) responses.push((await tenant.rest.get(`${path}${rest}`)).body);
    const { body } = await tenant.rest.get(`${path}/variables`);
    expect(body).toMatchObject({
      variables: [
        { name: "API_KEY", value: null, secret: true, build: false },
        { name: "BUILD_LABEL", value: "blue", secret: false, build: true },
        { name: "REGION", value: REGION, secret: false, build: false },
      ],
      is_applied: true,
    });
  }
  responses.push((await tenant.rest.get("/v1/audit")).body);
  const repeated = await tenant.rest.deploy(request, { "idempotency-key": "first" });
  expect(repeated.body).toEqual(deployed[0]);
  const replaced = {
    ...request,
    variables: [{ ...VARIABLES[0]!, value: "second-secret-9Wz1" }, ...VARIABLES.slice(1)],
  };
  const refused = await tenant.rest.deploy(replaced, { "idempotency-key": "first" });
  expect(refused.status).toBe(422);
  responses.push(refused.body);
  const stored = await dumpTables(harness().service.parts.orm.em.fork());
  expect(stored).toContain("BUILD_LABEL");
  const places = { responses: JSON.stringify(responses), logged: harness().logged(), stored };
  for (const value of [SECRET, REGION, "second-secret-9Wz1"])
    for (const hidden of [
      value,
      Buffer.from(value).toString("base64").slice(0, 16),
      Buffer.from(value).toString("hex"),
    ])
      for (const [place, text] of Object.entries(places))
        expect([place, hidden, text.includes(hidden)]).toEqual([place, hidden, false]);
});

test("a redeploy keeps the variables of the app, and accepts none", async () => {
  const tenant = await harness().tenant();
  await (await Repository.create(repositories(), "acme/again")).commitFiles(FILES);
  const { body: app } = await tenant.rest.deploy({ repo: "acme/again", variables: VARIABLES });
  await expectReady(tenant, app);
  const path = `/v1/apps/${String(app["app_id"])}/deployments`;
  const refused = await tenant.rest.post(path, { variables: VARIABLES });
  expect([refused.status, refused.body["error"]]).toEqual([400, expect.stringContaining('unknown field "variables"')]);
  expect((await tenant.rest.post(path, {})).status).toBe(201);
  await expectReady(tenant, app);
});
