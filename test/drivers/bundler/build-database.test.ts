import { tmpdir } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BundleRequest } from "../../../domain/ports/bundler.ts";
import { appsPostgres } from "../../../server/composition/edge.ts";
import type { WranglerBundler } from "../../../server/drivers/bundler/wrangler-bundler.ts";
import { AppPostgres } from "../../../server/platforms/embedded/postgres/app-postgres.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";
import { createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";
import { memoryFolder } from "../../support/memory-folder.ts";

const resources = new AsyncDisposableStack();
let postgres: AppPostgres;
let bundler: WranglerBundler;

beforeAll(async () => {
  const { path: dataDirectory } = resources.use(await memoryFolder());
  const log = createLogger("silent");
  const server = appsPostgres({ appsDatabaseUrl: null, databaseUrl: null, dataDirectory }, log);
  postgres = resources.use(new AppPostgres({ ...server, log }));
  bundler = createTestBundler({}, tmpdir(), {}, null, postgres);
});
afterAll(() => resources.disposeAsync());

/** Sends PostgreSQL's request for TLS, and prints the letter that it gets: S, because the service ends TLS. */
const CLIENT = `
  const [, , who] = process.argv;
  const socket = require("net").connect(Number(process.env.PGPORT), process.env.PGHOST);
  socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]));
  socket.once("data", (data) => { console.log(who, data.toString(), process.env.APP_DB); socket.end(); });
  socket.once("error", (error) => console.log(who, error.code, process.env.APP_DB));`;

const FILES = {
  "package.json": JSON.stringify({
    dependencies: { pg: "file:./pg" },
    scripts: { start: "node server.js", build: "node client.js build", migrate: "node client.js migration" },
  }),
  "pg/package.json": JSON.stringify({ name: "pg", version: "1.0.0" }),
  ".env.example": "DATABASE_URL=\n",
  "drizzle.config.js": `module.exports = { dialect: "postgresql", dbCredentials: { url: process.env.APP_DB_URL } };`,
  "client.js": CLIENT.replaceAll("APP_DB", "APP_DB_URL"),
  "server.js": `require("node:http").createServer().listen(process.env.PORT);`,
};

async function build(files: Readonly<Record<string, string>>, request: Partial<BundleRequest> = {}) {
  await using checkout = await createCheckout(files);
  const { bundle, log } = await runBundler(bundler, checkout, undefined, request);
  return { log, server: bundle.code.runtime === "node" ? bundle.code.server : null };
}

test("a build script reaches an empty database, which is migrated before and removed afterwards", async () => {
  const { log, server } = await build(FILES);
  expect(log).toMatch(/^migration S postgresql:\/\/app_\w+:\w+@127\.0\.0\.1:5432\/app_\w+$/m);
  expect(log).toMatch(/^build S postgresql:\/\/app_/m);
  expect(await postgres.list()).toEqual([]);
  expect(server).toMatchObject({ migration: "npm run migrate", postgres: { variables: { APP_DB_URL: "url" } } });
});

test("the migration of a build runs programs of installed packages", async () => {
  const { log, server } = await build({
    ...FILES,
    "package.json": JSON.stringify({
      dependencies: { pg: "file:./pg", "drizzle-kit": "file:./drizzle-kit" },
      scripts: { start: "node server.js", build: "node client.js build" },
    }),
    "drizzle-kit/package.json": JSON.stringify({ name: "drizzle-kit", version: "1.0.0", bin: "kit.js" }),
    "drizzle-kit/kit.js": "#!/usr/bin/env node\nconsole.log(`the kit runs ${process.argv[2]}`);",
  });
  expect(server).toMatchObject({ migration: "drizzle-kit push" });
  expect(log).toContain("the kit runs push");
  expect(log).not.toContain("warning: `drizzle-kit push`");
});

test("a build whose owner names a database for builds gets no other one", async () => {
  const { log } = await build(FILES, { variables: { APP_DB_URL: "postgres://elsewhere.example/db", PGPORT: "1" } });
  expect(log).toContain("build ECONNREFUSED postgres://elsewhere.example/db");
  expect(log).not.toContain("migration");
});

test("a migration that fails does not end the build", async () => {
  const { log } = await build({
    ...FILES,
    "package.json": FILES["package.json"].replace("client.js migration", "none.js"),
  });
  expect(log).toContain("warning: `npm run migrate` failed on the empty database of the build.");
  expect(log).toMatch(/^build S /m);
});
