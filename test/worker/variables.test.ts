import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, test } from "vitest";
import { nullIfMissing } from "../../server/files/missing-file.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { type HttpResponse, RestClient } from "../support/clients/rest-client.ts";
import { createHarness, type Tenant } from "../support/service/harness.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";
import { hazard, verifies } from "../support/verifies.ts";

const TOKEN_SECRET = "x".repeat(32);
const { harness, repositories } = repositoriesHarness({ config: { tokenSecret: TOKEN_SECRET } });

const SECRET = "first-secret-7Qx2";

/** An app that shows its variables. Its build fails without BUILD_LABEL, and prints what it gets. */
const FILES = {
  "package.json": JSON.stringify({ scripts: { build: "sh build.sh" } }),
  "build.sh": `sleep \${BUILD_SECONDS:-0}; echo "label=$BUILD_LABEL key=$API_KEY other=$GREETING"; echo "$API_KEY" | base64; test -n "$BUILD_LABEL"`,
  "wrangler.jsonc": JSON.stringify({
    name: "shop",
    main: "src/index.ts",
    compatibility_date: "2026-07-01",
    compatibility_flags: ["nodejs_compat"],
    vars: { GREETING: "from the repository" },
    d1_databases: [{ binding: "DB", database_name: "shop", database_id: "any" }],
  }),
  "src/index.ts": `
    if (process.env.MODE === "broken") throw new Error("broken with " + process.env.API_KEY);
    const NAMES = ["API_KEY", "BUILD_LABEL", "GREETING", "MODE"];
    const pick = (from) => Object.fromEntries(NAMES.filter((name) => name in from).map((name) => [name, from[name]]));
    export default {
      fetch: (_request, env) => Response.json({ env: pick(env), process: pick(process.env), db: typeof env.DB }),
    };`,
};

let tenant: Tenant;
let app: { id: string; url: string };

const appPath = (rest = "") => `/v1/apps/${app.id}${rest}`;
const put = (name: string, body: object): Promise<HttpResponse> =>
  tenant.rest.send("PUT", appPath(`/variables/${name}`), {
    body: JSON.stringify(body),
    headers: { "content-type": "application/json" },
  });
const list = async () => (await tenant.rest.get(appPath("/variables"))).body;

async function shown(): Promise<Record<string, unknown>> {
  const { status, text } = await appRequest(app.url);
  expect(status).toBe(200);
  return JSON.parse(text) as Record<string, unknown>;
}

async function redeploy(): Promise<HttpResponse> {
  expect((await tenant.rest.post(appPath("/deployments"), {})).status).toBe(201);
  return harness().waitForStatus(tenant, app.id);
}

const starts = () =>
  harness()
    .logged()
    .split("\n")
    .filter((line) => line.includes('"app started"')).length;

beforeAll(async () => {
  tenant = await harness().tenant();
  const repository = await Repository.create(repositories(), "acme/shop");
  await repository.commitFiles(FILES, "main");
  const { body } = await tenant.rest.deploy({ repo: "acme/shop" });
  app = { id: String(body["app_id"]), url: String(body["url"]) };
  await harness().waitForStatus(tenant, app.id, ["failed"]);
});

test("variables that are set before the first successful deployment are those of its build and its script", async () => {
  expect((await put("BUILD_LABEL", { value: "blue", build: true })).body).toMatchObject({
    name: "BUILD_LABEL",
    value: "blue",
    build: true,
    is_applied: true,
  });
  expect((await put("API_KEY", { value: SECRET, secret: true, build: true })).body).toMatchObject({ value: null });
  await put("GREETING", { value: "from the API" });
  expect((await redeploy()).body).toMatchObject({ status: "ready" });
  const values = { API_KEY: SECRET, BUILD_LABEL: "blue", GREETING: "from the API" };
  expect(await shown()).toEqual({ env: values, process: values, db: "object" });
});

verifies(hazard(48), "builds get only the variables for builds, and their logs do not contain secrets", async () => {
  const logs = String((await tenant.rest.get(appPath("/logs"))).body["logs"]);
  expect(logs).toContain("label=blue key=[masked] other=\n");
  expect(logs).not.toContain(SECRET);
  expect(logs).not.toContain(Buffer.from(SECRET).toString("base64").slice(0, 12));
});

test("a change is live without a build, and no request fails while the app restarts", async () => {
  const change = { isFinished: false };
  const statuses = new Set<number>();
  const client = (async () => {
    while (!change.isFinished) statuses.add((await appRequest(app.url)).status);
  })();
  const response = await put("API_KEY", { value: "second-secret-9" });
  expect(response.body).toMatchObject({ value: null, secret: true, build: true, is_applied: true, problem: null });
  change.isFinished = true;
  await client;
  expect([...statuses]).toEqual([200]);
  expect(await shown()).toMatchObject({ env: { API_KEY: "second-secret-9" } });
  expect((await tenant.rest.get(appPath("/deployments"))).body["deployments"]).toHaveLength(2);
});

test("the same request again does not restart the app", async () => {
  const before = starts();
  expect((await put("API_KEY", { value: "second-secret-9" })).body).toMatchObject({ is_applied: true });
  expect(starts()).toBe(before);
});

test("a change by a process without a worker is live in the process that runs the app", async () => {
  const { databaseUrl, redisUrl } = harness().config;
  await using other = await createHarness({ config: { databaseUrl, redisUrl, tokenSecret: TOKEN_SECRET } });
  const rest = new RestClient(other.service.publicUrl, tenant.api_key);
  const response = await rest.send("PUT", appPath("/variables/GREETING"), {
    body: JSON.stringify({ value: "from the other process" }),
    headers: { "content-type": "application/json" },
  });
  expect(response.body).toMatchObject({ is_applied: true });
  expect(await shown()).toMatchObject({ env: { GREETING: "from the other process" } });
});

test("a deleted variable is absent, and a variable of the repository is visible again", async () => {
  const response = await tenant.rest.delete(appPath("/variables/GREETING"));
  expect(response.body).toEqual({ status: "deleted", is_applied: true, problem: null });
  expect(await shown()).toMatchObject({ env: { GREETING: "from the repository" } });
  expect((await tenant.rest.delete(appPath("/variables/GREETING"))).status).toBe(404);
});

test("an app that does not start with a change continues with the earlier values, and the response says why", async () => {
  const broken = await put("MODE", { value: "broken" });
  expect(broken.body).toMatchObject({ is_applied: false, problem: expect.stringContaining("broken with [masked]") });
  expect(await shown()).toMatchObject({ env: { API_KEY: "second-secret-9" } });
  expect((await put("MODE", { value: "working" })).body).toMatchObject({ is_applied: true, problem: null });
  expect(await shown()).toMatchObject({ env: { MODE: "working" } });
});

test("a variable with the name of a binding to a resource is not applied, and does not replace the binding", async () => {
  const problem = expect.stringContaining('"DB" has the name of a binding of the app (d1)');
  expect((await put("DB", { value: "mine" })).body).toMatchObject({ is_applied: false, problem });
  expect(await list()).toMatchObject({ is_applied: false, problem });
  expect(await shown()).toMatchObject({ db: "object" });
  expect((await redeploy()).body).toMatchObject({ status: "failed", error: problem });
  expect((await tenant.rest.delete(appPath("/variables/DB"))).body).toMatchObject({ is_applied: true, problem: null });
});

test("an app whose variables change while it is built has the newest ones, and status_message says to build again", async () => {
  await put("BUILD_SECONDS", { value: "2", build: true });
  await tenant.rest.post(appPath("/deployments"), {});
  await harness().waitForStatus(tenant, app.id, ["building"]);
  await put("BUILD_LABEL", { value: "green" });
  const { body } = await harness().waitForStatus(tenant, app.id);
  expect(body).toMatchObject({
    status: "ready",
    status_message: expect.stringContaining("Variables for builds have changed since the build started."),
  });
  expect(await shown()).toMatchObject({ env: { BUILD_LABEL: "green" } });
});

test("a rollback uses the present variables", async () => {
  await put("API_KEY", { value: "third-secret-11" });
  expect((await tenant.rest.post(appPath("/rollback"), { number: 2 })).status).toBe(201);
  await harness().waitForStatus(tenant, app.id);
  expect(await shown()).toMatchObject({ env: { API_KEY: "third-secret-11", BUILD_LABEL: "green" } });
});

test("no file of the service contains a secret", async () => {
  await put("API_KEY", { value: "stored-nowhere-5150" });
  expect(await shown()).toMatchObject({ env: { API_KEY: "stored-nowhere-5150" } });
  const folder = harness().dataDirectory;
  const files: string[] = [];
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = path.join(entry.parentPath, entry.name);
    const content = await readFile(file).catch(nullIfMissing);
    expect([file, content?.includes("stored-nowhere-5150") ?? false]).toEqual([file, false]);
    files.push(file);
  }
  expect(files.filter((file) => file.includes(app.id))).not.toEqual([]);
  expect(harness().logged()).not.toContain("stored-nowhere-5150");
});

test("the variables of a deleted app are deleted", async () => {
  expect((await tenant.rest.delete(appPath())).body).toEqual({ status: "deleted" });
  const { db } = harness().service.parts;
  const rows = await db.selectFrom("app_variables").select("name").where("app_id", "=", app.id).execute();
  expect(rows).toEqual([]);
});
