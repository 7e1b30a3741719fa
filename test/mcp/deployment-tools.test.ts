import { expect, test } from "vitest";
import { LOG_BUCKET } from "../../domain/apps/app-resources.ts";
import { Deployment } from "../../domain/deployments/deployment.entity.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";
import { verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const { harness, repositories } = repositoriesHarness({ sharesBuilds: true });

const respondingWith = (text: string) => ({
  "src/index.ts": `export default { fetch: () => new Response(${JSON.stringify(text)}) };`,
});

verifies(
  [
    "tool.service_deploy_app",
    "tool.service_redeploy_app",
    "tool.service_rollback_app",
    "tool.service_list_deployments",
    "tool.service_get_app_logs",
    "tool.service_delete_app",
  ],
  "an agent deploys an app, deploys a new commit, and rolls back, without seeing an app token",
  async () => {
    const repository = await Repository.create(repositories(), "acme/agent");
    const firstCommit = await repository.commitFiles(respondingWith("first"));
    const gateway = new GatewayClient(harness().service.publicUrl, (await harness().tenant()).personal_access_token);
    const results: unknown[] = [];
    const call = async (tool: string, input: object) => {
      const { structuredContent } = await gateway.tool(tool, input);
      results.push(structuredContent);
      return structuredContent;
    };
    const started = await call("service_deploy_app", { repo: "acme/agent" });
    expect(started).toEqual({ app_id: expect.any(String), slug: expect.any(String), url: expect.any(String) });
    const { app_id } = started;
    const waitUntilReady = () =>
      waitFor(async () => expect((await call("service_get_app_logs", { app_id }))["status"]).toBe("ready"));
    await waitUntilReady();
    await repository.commitFiles(respondingWith("second"));
    expect(await call("service_redeploy_app", { app_id })).toEqual({ app_id, number: 2, status: "queued" });
    await waitUntilReady();
    expect(await appRequest(String(started["url"]))).toEqual({ status: 200, text: "second" });
    expect(await call("service_rollback_app", { app_id, number: 1 })).toMatchObject({ number: 3 });
    await waitUntilReady();
    expect(await appRequest(String(started["url"]))).toEqual({ status: 200, text: "first" });
    const { log } = await call("service_get_app_logs", { app_id, number: 1 });
    expect(log).toContain(firstCommit);
    const { deployments } = await call("service_list_deployments", { app_id: started["slug"] });
    expect(deployments).toMatchObject([
      { number: 3, trigger: "rollback", rollback_to: 1, is_live: true, can_roll_back: false },
      { number: 2, status: "superseded", is_live: false, can_roll_back: true },
      { number: 1, status: "superseded", commit: firstCommit, can_roll_back: true },
    ]);
    expect(await call("service_delete_app", { app_id: started["slug"] })).toEqual({ status: "deleted" });
    expect((await gateway.tool("service_get_app_logs", { app_id })).text).toBe("App not found");
    expect(JSON.stringify(results)).not.toContain("sva_");
  },
);

verifies(
  ["tool.service_deploy_app", "tool.service_redeploy_app"],
  "an agent deploys files without a repository, and then changed ones",
  async () => {
    const gateway = new GatewayClient(harness().service.publicUrl, (await harness().tenant()).personal_access_token);
    const call = async (tool: string, input: object) => (await gateway.tool(tool, input)).structuredContent;
    const started = await call("service_deploy_app", { files: respondingWith("first"), name: "From an agent" });
    const { app_id, slug } = started;
    expect(slug).toMatch(/^from-an-agent-/);
    const waitUntilReady = () =>
      waitFor(async () => expect((await call("service_get_app_logs", { app_id }))["status"]).toBe("ready"));
    await waitUntilReady();
    await call("service_redeploy_app", { app_id: slug, files: respondingWith("second") });
    await waitUntilReady();
    expect(await appRequest(String(started["url"]))).toEqual({ status: 200, text: "second" });
    const { deployments } = await call("service_list_deployments", { app_id });
    expect(deployments).toMatchObject([
      { number: 2, branch: null },
      { number: 1, branch: null },
    ]);
    const refused = await gateway.tool("service_deploy_app", { files: { "../x": "x" } });
    expect(refused.text).toContain('files: "../x" has a path with `..`.');
    expect((await gateway.tool("service_deploy_app", {})).text).toContain("exactly one of repo, archive and files");
  },
);

verifies(
  ["tool.service_set_variable", "tool.service_list_variables", "tool.service_get_runtime_logs"],
  "every tool for an app accepts its slug, and names similar slugs of the organization for another text",
  async () => {
    const tenant = await harness().tenant();
    const gateway = new GatewayClient(harness().service.publicUrl, tenant.personal_access_token);
    const app = await harness().givenApp(tenant, { name: "invoices" });
    await harness().givenApp(await harness().tenant(), { name: "invoices" });
    const ofApps = (await gateway.tools()).flatMap(({ name, inputSchema }) =>
      "app_id" in (inputSchema as { properties: object }).properties ? [String(name)] : [],
    );
    expect(ofApps.length).toBeGreaterThanOrEqual(9);
    const more: Record<string, object> = {
      service_get_app_changes: { number: 1 },
      service_promote_app: { from: "staging" },
      service_rollback_app: { number: 1 },
      service_set_variable: { name: "A", value: "1" },
    };
    for (const name of ofApps) {
      const { text, isError } = await gateway.tool(name, { app_id: "invoice", ...more[name] });
      expect([name, isError, text]).toEqual([
        name,
        true,
        expect.stringContaining(
          `App not found: no app has this id or slug. Did you mean "${app.slug}"? service_list_apps lists the apps.`,
        ),
      ]);
      if (name === "service_delete_app") continue;
      const found = await gateway.tool(name, { app_id: app.slug, ...more[name] });
      expect([name, found.text]).toEqual([name, expect.not.stringContaining("App not found")]);
    }
  },
);

test("pages of deployments and of runtime logs end at the size of a response, and the next page continues", async () => {
  const tenant = await harness().tenant();
  const gateway = new GatewayClient(harness().service.publicUrl, tenant.personal_access_token);
  const app = await harness().givenApp(tenant);
  const em = harness().service.parts.orm.em.fork();
  await em.nativeUpdate(Deployment, { appId: app.id }, { customization: "x".repeat(15_000), error: "failed" });
  await em.execute(
    `insert into deployments select (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(), 'number', 2, 'log_key', 'other'))).* from deployments d where app_id = ?`,
    [app.id],
  );
  const first = await gateway.tool("service_list_deployments", { app_id: app.slug });
  expect(first.structuredContent).toMatchObject({ deployments: [{ number: 2 }], next_cursor: expect.any(String) });
  const cursor = first.structuredContent["next_cursor"];
  expect(
    (await gateway.tool("service_list_deployments", { app_id: app.slug, cursor })).structuredContent,
  ).toMatchObject({
    deployments: [{ number: 1, error: "failed" }],
    next_cursor: null,
  });
});

test("each invalid call of a tool that deploys counts against the deploy limit, as in REST, and says so", async () => {
  const { personal_access_token: token, rest } = await harness().tenant();
  const gateway = new GatewayClient(harness().service.publicUrl, token);
  const attempts = [
    ["service_deploy_app", {}, "repo: missing"],
    ["service_deploy_app", { repo: 7, branch: null }, "repo: must be a string, not number"],
    ["service_redeploy_app", { app_id: "unknown" }, "App not found"],
    ["service_redeploy_app", { app_id: "unknown", brnach: "main" }, 'unknown field "brnach"'],
  ] as const;
  for (const [at, [tool, input, reason]] of attempts.entries()) {
    const { isError, text } = await gateway.tool(tool, input);
    expect([isError, text]).toEqual([true, expect.stringContaining(reason)]);
    expect(text).toContain(` This attempt counted: ${4 - at} of 5 are left.`);
  }
  expect((await rest.post("/v1/apps/deploy", { repo: 7 })).text).toContain("This attempt counted: 0 of 5 are left.");
  const { text } = await gateway.tool("service_deploy_app", { repo: "acme/agent" });
  expect(text).toMatch(/may deploy 5 times in 5 minutes\. Try again in \d+ seconds/);
});

test("logs of builds and of apps reach an agent without codes for terminals", async () => {
  const repository = await Repository.create(repositories(), "acme/colors");
  const print = String.raw`console.log("\x1b[32mgreen\x1b[0m \x1b]0;title\x07end");`;
  await repository.commitFiles({
    "package.json": JSON.stringify({ private: true, scripts: { build: "node build.js" } }),
    "build.js": print,
    "index.js": `export default { fetch() { ${print} return new Response("ok"); } };`,
  });
  const tenant = await harness().tenant();
  const gateway = new GatewayClient(harness().service.publicUrl, tenant.personal_access_token);
  const { slug, url } = (await gateway.tool("service_deploy_app", { repo: "acme/colors" })).structuredContent;
  const built = await gateway.tool("service_get_app_logs", { app_id: slug, wait_seconds: 50 });
  expect(built.structuredContent).toMatchObject({ status: "ready", log: expect.stringContaining("green end\n") });
  await appRequest(String(url));
  await waitFor(async () => {
    const { structuredContent, text } = await gateway.tool("service_get_runtime_logs", { app_id: slug });
    expect(structuredContent["logs"]).toContainEqual(expect.objectContaining({ message: "green end" }));
    expect(text).not.toContain(String.raw`\u001b`);
  });
  expect(built.text).not.toContain(String.raw`\u001b`);
});

test("a call that cannot succeed says what is wrong", async () => {
  const tenant = await harness().tenant();
  const gateway = new GatewayClient(harness().service.publicUrl, tenant.personal_access_token);
  const { id: app_id } = await harness().givenApp(await harness().tenant());
  const own = await harness().givenApp(tenant);
  const failures = {
    service_deploy_app: [{ repo: "site" }, "owner/name"],
    service_redeploy_app: [{ app_id }, "App not found"],
    service_rollback_app: [{ app_id: own.id, number: 1 }, "Deployment 1 is live already"],
    service_get_app_logs: [{ app_id: own.id, number: 7 }, "Deployment not found"],
  } as const;
  for (const [tool, [input, reason]] of Object.entries(failures)) {
    const { isError, text } = await gateway.tool(tool, input);
    expect([tool, isError, text]).toEqual([tool, true, expect.stringContaining(reason)]);
  }
});

test.each([
  ["short lines", `${"x".repeat(80)}\n`],
  ["lines of quotes", `${'"'.repeat(80)}\n`],
  ["one long line", "\u0001"],
])("the log of a deployment with %s is cut to its end", async (_, part) => {
  const tenant = await harness().tenant();
  const gateway = new GatewayClient(harness().service.publicUrl, tenant.personal_access_token);
  const { id: app_id, latestDeploymentId } = await harness().givenApp(tenant);
  const { logKey } = await harness().service.parts.orm.em.fork().findOneOrFail(Deployment, { id: latestDeploymentId });
  const log = `${part.repeat(100_000 / part.length)}the end\n`;
  await harness().service.parts.deploymentDeps.objects.put(LOG_BUCKET, logKey, new TextEncoder().encode(log));
  const { structuredContent, text } = await gateway.tool("service_get_app_logs", { app_id });
  const shown = String(structuredContent["log"]);
  expect(log.endsWith(shown) && shown.endsWith("the end\n")).toBe(true);
  expect(structuredContent["omitted_characters"]).toBe(log.length - shown.length);
  expect(text.length).toBeLessThan(24_000);
  expect(shown.length).toBeGreaterThan(3000);
});
