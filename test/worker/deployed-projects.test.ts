import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createHarness, type Harness } from "../support/service/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

let repositories: Awaited<ReturnType<typeof temporaryFolder>>;
let harness: Harness;

beforeAll(async () => {
  repositories = await temporaryFolder();
  harness = await createHarness({
    worker: true,
    sharesBuilds: true,
    config: { gitBaseUrl: pathToFileURL(repositories.path).href },
  });
});

afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await repositories[Symbol.asyncDispose]();
});

interface DeployedProject {
  app: Record<string, unknown>;
  logs: string;
  /** Sends a GET request to the app. */
  get(path: string): Promise<{ status: number; text: string }>;
}

async function deployProject(name: string, files: Record<string, string>): Promise<DeployedProject> {
  await (await Repository.create(repositories.path, `acme/${name}`)).commitFiles(files);
  const tenant = await harness.tenant();
  const { body } = await tenant.rest.deploy({ repo: `acme/${name}` });
  const id = String(body["app_id"]);
  const { body: app } = await harness.waitForStatus(tenant, id);
  const { body: log } = await tenant.rest.get(`/v1/apps/${id}/logs`);
  return { app, logs: String(log["logs"]), get: (path) => appRequest(new URL(path, String(app["url"])).href) };
}

const D1 = { binding: "DB", database_name: "app", database_id: "app", migrations_dir: "db" };

/** A project whose build writes the configuration to deploy, as Cloudflare's Vite plugin does. */
const GENERATING = {
  "package.json": JSON.stringify({ scripts: { build: "sh build.sh" } }),
  "build.sh": `
    mkdir -p .wrangler/deploy dist/app
    echo '{ "configPath": "../../dist/app/wrangler.json" }' >.wrangler/deploy/config.json
    cp generated.json dist/app/wrangler.json
    cp worker.js dist/app/index.js`,
  "generated.json": JSON.stringify({
    name: "app",
    main: "index.js",
    no_bundle: true,
    compatibility_date: "2026-06-01",
    d1_databases: [D1],
  }),
  "worker.js": `export default { async fetch(request, { DB }) {
    const { results } = await DB.prepare("SELECT name FROM sqlite_schema WHERE name = 'guests'").all();
    return Response.json(results);
  } };`,
  "wrangler.jsonc": JSON.stringify({ name: "app", d1_databases: [D1] }),
};

test("an app whose build generated its configuration has the tables of the repository's migrations", async () => {
  const { app, logs, get } = await deployProject("generated", {
    ...GENERATING,
    "db/0001_guests.sql": "CREATE TABLE guests (name TEXT);",
  });
  expect([app["status"], app["status_message"]]).toEqual(["ready", null]);
  expect(logs).toContain("[service] applying 1 migrations\n");
  expect(await get("/")).toEqual({ status: 200, text: `[{"name":"guests"}]` });
});

test("an app whose migrations are not found becomes ready, and its log and status message say so", async () => {
  const { app, logs } = await deployProject("without-migrations", GENERATING);
  const warning = 'The SQL database DB has no tables: no file matches "db/*.sql".';
  expect(app).toMatchObject({
    status: "ready",
    error: null,
    status_message: expect.stringContaining(`The app is live. ${warning}`),
  });
  expect(logs).toContain(`[service] warning: ${warning}`);
});
