import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";

const { harness, repositories } = repositoriesHarness({
  config: { buildEgress: { setting: "public", hosts: [], isPublic: true } },
});

const WORKER = `export default { fetch: () => new Response("hello") };`;

async function deploy(name: string, files: Record<string, string>, settings: object) {
  const tenant = await harness().tenant();
  const repository = await Repository.create(repositories(), `acme/${name}`);
  await repository.commitFiles(files);
  const { body } = await tenant.rest.deploy({ repo: `acme/${name}`, ...settings });
  const app = await harness().waitForStatus(tenant, String(body["app_id"]));
  return { tenant, path: `/v1/apps/${String(body["app_id"])}`, app: app.body };
}

test("a build has a network if the app requests it and the operator allows it, until the app gives it up", async () => {
  const scripts = { build: 'echo "The proxy is ${HTTPS_PROXY:-absent}."' };
  const files = { "package.json": JSON.stringify({ scripts }), "index.js": WORKER };
  const { tenant, path, app } = await deploy("network", files, { build_network: true });
  expect(app).toMatchObject({ status: "ready", build_network: true });
  expect((await tenant.rest.get(`${path}/deployments/1/logs`)).body["logs"]).toContain(
    "The proxy is http://127.0.0.1:",
  );
  const headers = { "content-type": "application/json" };
  await tenant.rest.send("PATCH", path, { body: JSON.stringify({ build_network: false }), headers });
  expect((await tenant.rest.post(`${path}/deployments`, {})).body).toMatchObject({ number: 2, build_network: false });
  await harness().waitForStatus(tenant, String(app["id"]));
  expect((await tenant.rest.get(`${path}/deployments/2/logs`)).body["logs"]).toContain("The proxy is absent.");
  expect((await tenant.rest.get(`${path}/deployments/1`)).body).toMatchObject({ build_network: true });
});

test("an app with bindings that the platform does not have fails with their products, and with fitting advice", async () => {
  const config = {
    main: "index.js",
    compatibility_date: "2026-06-01",
    ai: { binding: "AI" },
    vectorize: [{ binding: "INDEX", index_name: "pages" }],
  };
  const { app } = await deploy("bindings", { "wrangler.json": JSON.stringify(config), "index.js": WORKER }, {});
  expect(app).toMatchObject({
    status: "failed",
    error: expect.stringMatching(
      /^The platform does not have Vectorize \(binding "INDEX"\), Workers AI \(binding "AI"\)\. It has /,
    ),
    status_message: expect.stringContaining("Remove it from the wrangler configuration"),
  });
});

test("an app is deployed without the parts of its configuration that the platform ignores, and a warning names them", async () => {
  const config = {
    main: "index.js",
    compatibility_date: "2026-06-01",
    triggers: { crons: ["0 * * * *"] },
    queues: { consumers: [{ queue: "jobs" }] },
    tail_consumers: [{ service: "logs" }],
    logpush: true,
    observability: { enabled: true },
  };
  const { tenant, path, app } = await deploy(
    "ignored",
    { "wrangler.json": JSON.stringify(config), "index.js": WORKER },
    {},
  );
  const warning =
    "The platform does not have Cron Triggers (triggers.crons), Queues (queues.consumers), Tail Workers (tail_consumers), Logpush (logpush). It ignores these parts of the wrangler configuration.";
  expect(app).toMatchObject({ status: "ready", status_message: expect.stringContaining(warning) });
  expect((await tenant.rest.get(`${path}/deployments/1/logs`)).body["logs"]).toContain(`warning: ${warning}`);
});
