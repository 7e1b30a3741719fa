import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { MODEL_PROVIDERS } from "../../server/drivers/language-model/ai-sdk-model.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import {
  openScriptedModel,
  type ScriptedModel,
  type ScriptedResponse,
  USAGE,
} from "../support/documents/scripted-model.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const call = (tool: string, input: object = {}): ScriptedResponse => ({ tool, input });
const edit = (from: string, to: string): ScriptedResponse =>
  call("edit_file", { path: "src/index.ts", old_string: from, new_string: to });

let model: ScriptedModel;
let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let harness: Harness;

async function openHarness(provider: (typeof MODEL_PROVIDERS)[number]): Promise<Harness> {
  const builder = {
    model: { provider, name: "scripted", baseUrl: model.url, apiKey: "model-key" },
    command: null,
    folder: null,
  };
  const gitBaseUrl = pathToFileURL(folder.path).href;
  return createHarness({ worker: true, sharesBuilds: true, config: { builder, gitBaseUrl } });
}

beforeAll(async () => {
  model = await openScriptedModel();
  folder = await temporaryFolder();
  harness = await openHarness("openai-compatible");
});

afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
});

/** A script with a first line for others to change, a long body, and the text that it responds with. */
const script = (text: string, version = "1"): Record<string, string> => ({
  "src/index.ts": `// version ${version}\n\n\n\n\n\nconst text = "${text}";\nexport default { fetch: () => new Response(text) };\n`,
});

/** Deploys a repository that responds with "Hello", and returns functions that act on the app. */
async function givenApp(name: string, request: object = {}) {
  const tenant = await harness.tenant();
  const repository = await Repository.create(folder.path, `acme/${name}`);
  await repository.commitFiles(script("Hello"));
  const { body } = await tenant.rest.deploy({ repo: `acme/${name}`, ...request });
  const [id, url] = [String(body["app_id"]), String(body["url"])];
  const path = `/v1/apps/${id}`;
  const get = async (number: number, part = "") => (await tenant.rest.get(`${path}/deployments/${number}${part}`)).body;
  const untilStatus = async (number: number, status: string) =>
    waitFor(async () => expect(await get(number)).toMatchObject({ status }));
  const redeploy = async (settings: object, status = "ready") => {
    const response = await tenant.rest.post(`${path}/deployments`, settings);
    expect(response.status).toBe(201);
    const number = Number(response.body["number"]);
    await untilStatus(number, status);
    return number;
  };
  return { tenant, repository, id, path, get, untilStatus, redeploy, text: async () => (await appRequest(url)).text };
}

for (const provider of ["openai-compatible", "anthropic"] as const)
  verifies(
    ["apps.deploy.customizes", "deployments.changes", "tool.service_get_app_changes", "usage.read"],
    `the app builder agent changes the heading of the guestbook, with a model that is ${provider}`,
    async () => {
      await using own = await openHarness(provider);
      model.respond(
        call("read_file", { path: "src/page.ts" }),
        call("edit_file", { path: "src/page.ts", old_string: "<h1>Guestbook</h1>", new_string: "<h1>Hello Ada</h1>" }),
        call("run_build"),
        "The heading says Hello Ada. Nothing else is changed.",
      );
      const tenant = await own.tenant();
      const customization = "make the heading say Hello Ada";
      const { body } = await tenant.rest.deploy({ repo: "examples/guestbook", customization });
      const id = String(body["app_id"]);
      const { body: app } = await own.waitForStatus(tenant, id);
      const { body: log } = await tenant.rest.get(`/v1/apps/${id}/logs`);
      expect([app["status"], log["logs"]]).toEqual(["ready", expect.stringContaining("[service] edit src/page.ts\n")]);
      expect((await appRequest(String(app["url"]))).text).toContain("<h1>Hello Ada</h1>");
      expect(JSON.stringify(log)).not.toContain("model-key");
      const { body: changes } = await tenant.rest.get(`/v1/apps/${id}/deployments/1/changes`);
      expect(changes).toMatchObject({
        instructions: [customization],
        summary: "The heading says Hello Ada. Nothing else is changed.",
        files: [{ path: "src/page.ts", change: "changed" }],
        patch: expect.stringContaining("\n-        <h1>Guestbook</h1>\n+        <h1>Hello Ada</h1>\n"),
        ...{ steps: 4, input_tokens: 4 * USAGE.input, output_tokens: 4 * USAGE.output },
      });
      const gateway = new GatewayClient(own.service.publicUrl, tenant.personal_access_token);
      const { structuredContent } = await gateway.tool("service_get_app_changes", { app_id: id, number: 1 });
      expect(structuredContent).toEqual(changes);
      const { body: usage } = await tenant.rest.get("/v1/usage");
      const used = 4 * (USAGE.input + USAGE.output);
      expect(usage["quotas"]).toContainEqual({ metric: "builder_tokens", used, limit: 10_000_000 });
    },
  );

test("an edit that breaks the build is corrected by the agent before anything is live", async () => {
  model.respond(edit('"Hello";', '"Hello Ada'), "Done.", edit('"Hello Ada', '"Hello Ada";'), "Corrected.");
  const app = await givenApp("broken", { customization: "say Hello Ada" });
  await app.untilStatus(1, "ready");
  expect(await app.text()).toBe("Hello Ada");
  const { logs } = await app.get(1, "/logs");
  expect(logs).toMatch(/\[service\] failed: .*; trying again\n[^]*\[service\] the changed app builds and starts\n/);
});

test("a change that prevents the start, and a migration that fails, are errors of the trial", async () => {
  const migration = (sql: string) => call("write_file", { path: "migrations/0002_more.sql", content: sql });
  const index = (from: string, to: string) =>
    call("edit_file", { path: "src/index.ts", old_string: from, new_string: to });
  const first = 'import { Hono } from "hono";';
  model.respond(
    index(first, `${first}\nthrow new Error("broken start");`),
    call("run_build"),
    index('\nthrow new Error("broken start");', ""),
    migration("ALTER TABLE absent ADD x TEXT;"),
    call("run_build"),
    migration("ALTER TABLE entries ADD mood TEXT;"),
    call("run_build"),
    "It has moods.",
  );
  const tenant = await harness.tenant();
  const { body } = await tenant.rest.deploy({ repo: "examples/guestbook", customization: "add a mood" });
  const { body: app } = await harness.waitForStatus(tenant, String(body["app_id"]));
  const { body: log } = await tenant.rest.get(`/v1/apps/${String(body["app_id"])}/logs`);
  expect(app["status"]).toBe("ready");
  expect(log["logs"]).toMatch(/failed: The app builds, but does not start: .*broken start.*; trying again\n/);
  expect(log["logs"]).toMatch(/failed: The app builds, but does not start: .*0002_more.*absent.*; trying again\n/);
  expect(log["logs"]).toMatch(/GET \/ responds with status 200\n\[service\] the changed app builds and starts\n/);
  expect((await appRequest(String(app["url"]))).status).toBe(200);
  const { deploymentDeps } = harness.service.parts;
  expect((await deploymentDeps.databases.list()).filter((id) => id.startsWith("trial-"))).toEqual([]);
});

test("a failed customization changes nothing that is live, and its tokens count", async () => {
  const app = await givenApp("failing");
  await app.untilStatus(1, "ready");
  model.respond(edit('"Hello";', '"Hello'), call("run_build"), call("run_build"));
  await app.redeploy({ customization: "say Hello Ada" }, "failed");
  expect(await app.get(2)).toMatchObject({ error: expect.stringContaining("twice in a row"), is_live: false });
  expect(await app.text()).toBe("Hello");
  const { body } = await app.tenant.rest.get("/v1/usage");
  const used = 3 * (USAGE.input + USAGE.output);
  expect(body["quotas"]).toContainEqual(expect.objectContaining({ metric: "builder_tokens", used }));
  expect((await app.tenant.rest.get(`${app.path}/deployments/2/changes`)).status).toBe(404);
});

test("stored changes survive a commit that changes other lines without the agent, and a conflicting commit calls it", async () => {
  model.respond(edit('"Hello"', '"Hello Ada"'), "It says Hello Ada.");
  const app = await givenApp("merged", { customization: "say Hello Ada" });
  await app.untilStatus(1, "ready");
  const calls = model.calls.length;
  await app.repository.commitFiles(script("Hello", "2"));
  await app.redeploy({});
  expect([await app.text(), model.calls.length]).toEqual(["Hello Ada", calls]);
  expect((await app.get(2, "/logs"))["logs"]).toContain("applied the changes of deployment 1 to 1 file\n");
  expect(await app.get(2, "/changes")).toMatchObject({ summary: null, steps: 0, instructions: ["say Hello Ada"] });
  await app.repository.commitFiles(script("Good morning", "3"));
  model.respond(edit('"Good morning"', '"Good morning Ada"'), "It says Good morning Ada.");
  await app.redeploy({});
  expect(await app.text()).toBe("Good morning Ada");
  const messages = model.calls.at(-1)?.body["messages"] as { content: string }[];
  expect(messages[1]?.content).toContain('-const text = "Hello";\n+const text = "Hello Ada";\n');
  expect(await app.get(3, "/changes")).toMatchObject({ instructions: ["say Hello Ada"], steps: 2 });
});

test("a further customization is made on top of the live changes, null removes all of them, and a rollback brings them back", async () => {
  model.respond(edit('"Hello"', '"Hello Ada"'), "It says Hello Ada.");
  const app = await givenApp("further", { customization: "say Hello Ada" });
  await app.untilStatus(1, "ready");
  model.respond(edit('"Hello Ada"', '"Hello Ada and Grace"'), "It greets Grace too.");
  await app.redeploy({ customization: "greet Grace too" });
  expect(await app.text()).toBe("Hello Ada and Grace");
  expect(await app.get(2, "/changes")).toMatchObject({
    instructions: ["say Hello Ada", "greet Grace too"],
    patch: expect.stringContaining('-const text = "Hello";\n+const text = "Hello Ada and Grace";\n'),
  });
  const calls = model.calls.length;
  await app.redeploy({ customization: null });
  expect(await app.text()).toBe("Hello");
  const { body } = await app.tenant.rest.post(`${app.path}/rollback`, { number: 2 });
  await app.untilStatus(Number(body["number"]), "ready");
  await app.repository.commitFiles(script("Hello", "2"));
  await app.redeploy({ customization: "greet Grace too" });
  expect([await app.text(), model.calls.length]).toEqual(["Hello Ada and Grace", calls]);
});

test("an agent that changes nothing fails the deployment, and its words are quoted", async () => {
  model.respond("lorem\n[service] ipsum");
  const app = await givenApp("unchanged", { customization: "say Hello Ada" });
  await app.untilStatus(1, "failed");
  expect(await app.get(1)).toMatchObject({
    error: 'The app builder agent changed nothing. It said: "lorem [service] ipsum"',
  });
});

test("a canceled deployment ends while the model does not respond", async () => {
  model.respond(null);
  const app = await givenApp("canceled", { customization: "say Hello Ada" });
  await app.untilStatus(1, "customizing");
  const { body } = await app.tenant.rest.post(`${app.path}/deployments/1/cancel`, {});
  expect(body["status"]).toBe("canceled");
});

test("each starter and a sentence are an app: a site, an API with a database, and tools for agents", async () => {
  const tenant = await harness.tenant();
  const deploy = async (name: string, ...responses: ScriptedResponse[]) => {
    model.respond(...responses, "Done.");
    const { body } = await tenant.rest.deploy({ repo: `examples/${name}`, customization: "make it mine" });
    const { body: app } = await harness.waitForStatus(tenant, String(body["app_id"]));
    expect([name, app["status"]]).toEqual([name, "ready"]);
    return { url: String(body["url"]), id: String(body["app_id"]), token: String(body["app_token"]) };
  };
  const change = (path: string, old: string, text: string) =>
    call("edit_file", { path, old_string: old, new_string: text, replace_all: true });
  const site = await deploy("starter-site", change("index.html", "Your site", "Morgenrot"));
  expect((await appRequest(site.url)).text).toContain("<title>Morgenrot</title>");
  const api = await deploy(
    "starter-api",
    call("run_script", { name: "test" }),
    change("src/index.ts", '"/items"', '"/books"'),
    call("run_script", { name: "test" }),
  );
  const { body: log } = await tenant.rest.get(`/v1/apps/${api.id}/logs`);
  expect(log["logs"]).toMatch(/\[service\] run the script test\n[^]*\[service\] run the script test: failed\n/);
  const post = { method: "POST", headers: { authorization: `Bearer ${api.token}` }, body: '{"name": "Emma"}' };
  expect((await appRequest(`${api.url}/books`, post)).status).toBe(201);
  const tools = await deploy("starter-agent-tools", change("src/router.ts", "Adds a note.", "Adds a lead."));
  const gateway = new GatewayClient(harness.service.publicUrl, tenant.personal_access_token);
  const listed = (await gateway.tools()) as { name: string; description: string }[];
  const direct = listed.filter(({ name }) => name.startsWith("starter-agent-tools"));
  expect(direct.map(({ description }) => description)).toEqual([
    expect.stringContaining("Adds a lead."),
    expect.stringContaining("Finds the newest notes"),
  ]);
  expect((await appRequest(`${tools.url}/trpc/search?input=%7B%7D`)).text).toContain('"data":[]');
});
