import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { openScriptedModel, type ScriptedResponse } from "../support/documents/scripted-model.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { postgresProject } from "../support/edge/postgres-client.ts";
import { createHarness } from "../support/service/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time-limits.ts";

const call = (tool: string, input: object = {}): ScriptedResponse => ({ tool, input });

test("a migration of PostgreSQL that fails, and a Node server that does not start, are errors of the trial", async () => {
  await using model = await openScriptedModel();
  await using folder = await temporaryFolder();
  const provider = {
    provider: "openai-compatible",
    name: "scripted",
    baseUrl: model.url,
    apiKey: "model-key",
  } as const;
  await using harness = await createHarness({
    worker: true,
    sharesBuilds: true,
    config: {
      builder: { model: provider, command: null, folder: null },
      gitBaseUrl: pathToFileURL(folder.path).href,
    },
  });
  const tenant = await harness.tenant();
  const repository = await Repository.create(folder.path, "acme/server");
  await repository.commitFiles({
    ...(await postgresProject()),
    "migrate.js": `const db = new (require("pg").Client)();
      db.connect().then(() => db.query("create table if not exists items (name text)")).then(() => db.end());`,
    "server.js": `const pool = new (require("pg").Pool)({ connectionString: process.env.DATABASE_URL });
      pool.on("error", () => {});
      require("http").createServer(async (request, response) => {
        response.end(JSON.stringify((await pool.query("select count(*)::int as items from items")).rows));
      }).listen(process.env.PORT);`,
  });
  const change = (path: string, from: string, to: string) =>
    call("edit_file", { path, old_string: from, new_string: to });
  model.respond(
    change("migrate.js", "(name text)", "(name absent)"),
    call("run_build"),
    change("migrate.js", "(name absent)", "(name text, mood text)"),
    change("server.js", ".listen(process.env.PORT)", ".listen(process.env.ABSENT.PORT)"),
    call("run_build"),
    change("server.js", ".listen(process.env.ABSENT.PORT)", ".listen(process.env.PORT)"),
    change("server.js", "as items", "as moods"),
    call("run_build"),
    "It counts moods.",
  );
  const { body } = await tenant.rest.deploy({ repo: "acme/server", customization: "count moods" });
  const [id, url] = [String(body["app_id"]), String(body["url"])];
  const { body: app } = await harness.waitForStatus(tenant, id);
  const { body: log } = await tenant.rest.get(`/v1/apps/${id}/logs`);
  expect([app["status"], app["error"], app["runtime"]]).toEqual(["ready", null, "node"]);
  expect(log["logs"]).toMatch(/failed: .*The migration `.*migrate.*` ended with status 1.*; trying again\n/);
  expect(log["logs"]).toMatch(/failed: .*The server ended with status 1 .*; trying again\n/);
  expect(log["logs"]).toMatch(
    /The app is a Node server. It starts with: node server.js\nIt has a PostgreSQL database.\n/,
  );
  expect(log["logs"]).toContain("GET / responds with status 200\n[service] the changed app builds and starts\n");
  expect((await appRequest(url)).text).toBe('[{"moods":0}]');
  const { databases } = harness.service.parts.deploymentDeps;
  expect((await databases.list()).filter((name) => name.startsWith("trial-"))).toEqual([]);
  const variable = { headers: { "content-type": "application/json" }, body: '{"value": "postgres://db.example/x"}' };
  expect((await tenant.rest.send("PUT", `/v1/apps/${id}/variables/DATABASE_URL`, variable)).status).toBe(200);
  model.respond(change("server.js", "as moods", "as feelings"), "It counts feelings.");
  await tenant.rest.post(`/v1/apps/${id}/deployments`, { customization: "count feelings" });
  const logOfSecond = await waitFor(async () => {
    const { body: second } = await tenant.rest.get(`/v1/apps/${id}/deployments/2/logs`);
    expect(second["logs"]).toContain("GET / responds");
    return second["logs"];
  });
  expect(logOfSecond).toContain("GET / responds with status 200");
  await tenant.rest.post(`/v1/apps/${id}/deployments/2/cancel`, {});
  const messages = JSON.stringify(model.calls.at(-1)?.body["messages"]);
  expect(messages).toContain("\\n\\nThe app is a Node server.\\n\\n");
});
