import { expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { type AppResponse, sendRequest } from "../support/edge/test-platform.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";

const { harness, repositories } = repositoriesHarness({ sharesBuilds: true });

interface DeployedProject {
  app: Record<string, unknown>;
  logs: string;
  /** Sends a GET request to the app. */
  get(path: string): Promise<AppResponse>;
}

async function deployProject(name: string, files: Record<string, string>): Promise<DeployedProject> {
  await (await Repository.create(repositories(), `acme/${name}`)).commitFiles(files);
  const tenant = await harness().tenant();
  const { body } = await tenant.rest.deploy({ repo: `acme/${name}` });
  const id = String(body["app_id"]);
  const { body: app } = await harness().waitForStatus(tenant, id);
  const { body: log } = await tenant.rest.get(`/v1/apps/${id}/logs`);
  const { host, port } = new URL(String(app["url"]));
  return { app, logs: String(log["logs"]), get: (path) => sendRequest(Number(port), host, path) };
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
  expect(await get("/")).toMatchObject({ status: 200, text: `[{"name":"guests"}]` });
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

const NOTE_DATABASE = { ...D1, migrations_dir: "migrations" };

test("a Pages project serves its functions and static files, and has its database, headers and redirects", async () => {
  const { app, get } = await deployProject("pages", {
    "wrangler.jsonc": JSON.stringify({
      name: "notes",
      pages_build_output_dir: "./public",
      compatibility_date: "2026-06-01",
      d1_databases: [NOTE_DATABASE],
      vars: { GREETING: "hello" },
    }),
    "migrations/0001_notes.sql": "CREATE TABLE notes (text TEXT);\nINSERT INTO notes VALUES ('first');",
    "functions/api/notes.ts": `export const onRequestGet: PagesFunction = async ({ env }) => Response.json((await env.DB.prepare("SELECT text FROM notes").all()).results);`,
    "functions/greet/[name].js": `export const onRequest = ({ env, params }) => new Response(env.GREETING + " " + params.name);`,
    "functions/files/_middleware.js": `export const onRequest = async ({ next }) => { const response = await next(); return new Response("of a file: " + (await response.text()), response); };`,
    "public/index.html": "<h1>notes</h1>",
    "public/about.html": "<h1>about</h1>",
    "public/files/a.txt": "a",
    "public/_headers": "/about\n  x-own: own\n",
    "public/_redirects": "/old/* /about 301\n/shown /about 200\n",
  });
  expect([app["status"], app["status_message"]]).toEqual(["ready", null]);
  expect(await get("/api/notes")).toMatchObject({ status: 200, text: `[{"text":"first"}]` });
  expect((await get("/greet/ada")).text).toBe("hello ada");
  expect((await get("/files/a.txt")).text).toBe("of a file: a");
  expect(await get("/about")).toMatchObject({ text: "<h1>about</h1>", headers: { "x-own": "own" } });
  expect(await get("/old/page")).toMatchObject({ status: 301, headers: { location: "/about" } });
  expect((await get("/shown")).text).toBe("<h1>about</h1>");
  expect(await get("/unknown")).toMatchObject({ status: 200, text: "<h1>notes</h1>" });
});

test("functions beside a static build are deployed without a wrangler configuration", async () => {
  const { app, get } = await deployProject("pages-without-configuration", {
    "package.json": JSON.stringify({
      scripts: { build: "mkdir dist && cp 404.html dist && echo page >dist/index.html" },
    }),
    "404.html": "nothing here",
    "functions/hello.js": `export const onRequest = () => new Response("hello");`,
  });
  expect(app["status"]).toBe("ready");
  expect((await get("/hello")).text).toBe("hello");
  expect((await get("/")).text).toBe("page\n");
  expect(await get("/unknown")).toMatchObject({ status: 404, text: "nothing here" });
});

test("the script of a Pages project gets only the requests that _routes.json includes", async () => {
  const { get } = await deployProject("pages-with-routes", {
    "dist/_worker.js": `export default { fetch: (request) => new Response("script: " + new URL(request.url).pathname) };`,
    "dist/_routes.json": JSON.stringify({ version: 1, include: ["/api/*"], exclude: ["/api/public/*"] }),
    "dist/index.html": "page",
    "dist/api/public/a.txt": "a",
  });
  expect((await get("/api/x")).text).toBe("script: /api/x");
  expect((await get("/api")).text).toBe("script: /api");
  expect((await get("/api/public/a.txt")).text).toBe("a");
  for (const path of ["/", "/dashboard", "/apis"]) expect((await get(path)).text).toBe("page");
});

test("a static site has its headers and redirects", async () => {
  const { get } = await deployProject("static-site", {
    "public/index.html": "page",
    "public/404.html": "nothing here",
    "public/_headers": "/*\n  x-frame-options: DENY\n",
    "public/_redirects": "/old / 302\n",
  });
  expect(await get("/")).toMatchObject({ text: "page", headers: { "x-frame-options": "DENY" } });
  expect(await get("/old")).toMatchObject({ status: 302, headers: { location: "/" } });
  expect(await get("/unknown")).toMatchObject({ status: 404, text: "nothing here" });
});
