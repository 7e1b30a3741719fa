import { expect, test } from "vitest";
import { App } from "../../domain/apps/app.entity.ts";
import { Deployment } from "../../domain/deployments/deployment.entity.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { rpcClient, rpcErrorOf } from "../support/clients/rpc-client.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";

const service = sharedHarness({ config: { gitBaseUrl: "https://github.com" } });
const em = () => service().service.parts.orm.em.fork();
const URL_OF_FOLDER = "https://github.com/acme/shop/tree/next/apps/web";

async function givenClients() {
  const tenant = await service().tenant();
  const { publicUrl } = service().service;
  const gateway = new GatewayClient(publicUrl, tenant.personal_access_token);
  return { ...tenant, gateway, rpc: (headers = {}) => rpcClient(publicUrl, tenant.api_key, headers) };
}

test("a tool, a program and typed RPC accept a URL of the git host, and REST accepts owner/name only", async () => {
  const { gateway, rpc, rest } = await givenClients();
  const program = `return await service.tools.service_deploy_app({ repo: "${URL_OF_FOLDER}" })`;
  const executed = await gateway.tool("service_execute", {
    code: `console.log(JSON.stringify(await (async () => { ${program} })()))`,
  });
  const deployed = [
    (await gateway.tool("service_deploy_app", { repo: URL_OF_FOLDER })).structuredContent,
    JSON.parse(String(executed.structuredContent["stdout"])) as Record<string, unknown>,
    await rpc().apps.deploy.mutate({ repo: URL_OF_FOLDER }),
  ];
  for (const { app_id } of deployed) {
    const id = String(app_id);
    expect(await em().findOneOrFail(App, { id })).toMatchObject({
      ...{ name: "shop", repo: "acme/shop", branch: "next", rootDirectory: "apps/web" },
    });
    expect(await em().findOneOrFail(Deployment, { appId: id })).toMatchObject({
      repo: "acme/shop",
      branchIsDefault: false,
    });
  }
  const refused = await rest.deploy({ repo: "https://github.com/acme/shop" });
  expect([refused.status, refused.body["error"]]).toEqual([
    400,
    expect.stringContaining("must have the form owner/name"),
  ]);
});

test("a URL of another host is an error that counts, by a tool and by typed RPC", async () => {
  const { gateway, rpc } = await givenClients();
  const request = { repo: "https://ada:s3cret@gitlab.com/acme/shop" };
  const result = await gateway.tool("service_deploy_app", request);
  const reason = /repo: the organization has no git connection to gitlab\.com\..*: \d of 5 are left\./;
  expect([result.isError, result.text]).toEqual([true, expect.stringMatching(reason)]);
  expect(result.text).toContain("4 of 5");
  const error = await rpcErrorOf(rpc().apps.deploy.mutate(request));
  expect(error).toMatchObject({ status: 400, errorCode: "invalid", message: expect.stringMatching(reason) });
  expect(error.message).toContain("3 of 5");
  expect(service().logged()).not.toContain("s3cret");
});

test("an Idempotency-Key finds the same request, however its repository is written", async () => {
  const { rpc, rest } = await givenClients();
  const key = { "idempotency-key": "once" };
  const first = await rpc(key).apps.deploy.mutate({ repo: "git@github.com:acme/shop.git" });
  expect(await rpc(key).apps.deploy.mutate({ repo: "https://github.com/acme/shop/" })).toEqual(first);
  expect((await rest.deploy({ repo: "acme/shop" }, key)).body).toEqual(first);
  expect((await rest.get("/v1/apps")).body["apps"]).toHaveLength(1);
});

test("a skill is not read from a URL of another host, and over REST from no URL", async () => {
  const { rpc, rest } = await givenClients();
  const error = await rpcErrorOf(
    rpc().skills.upload.mutate({ name: "pdf", repo: "https://gitlab.com/acme/skills/tree/main/pdf" }),
  );
  expect(error).toMatchObject({ status: 400, message: expect.stringContaining("has no git connection to gitlab.com") });
  const byRest = await rest.send("PUT", "/v1/skills/pdf", {
    ...{
      body: JSON.stringify({ repo: "https://github.com/acme/skills" }),
      headers: { "content-type": "application/json" },
    },
  });
  expect([byRest.status, byRest.body["error"]]).toEqual([
    400,
    expect.stringContaining("must have the form owner/name"),
  ]);
});
