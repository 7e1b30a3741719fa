import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import type { Runtime } from "../../../domain/ports/bundler.ts";
import { bundleFailure, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";

type Files = Readonly<Record<string, string>>;

const bundler = createTestBundler({}, tmpdir());

const SERVER = `require("node:http").createServer((request, response) => response.end("hello")).listen(process.env.PORT);`;
const WORKER = `export default { fetch: () => new Response("hello") };`;
const WRANGLER = JSON.stringify({ name: "app", main: "worker.js", compatibility_date: "2026-01-01" });
const start = (command: string, scripts: Record<string, string> = {}) =>
  JSON.stringify({ scripts: { start: command, ...scripts } });

/** A project that is a Worker for wrangler, and has a server too. */
const BOTH: Files = {
  "package.json": start("node server.js", { build: 'echo "WORKERS_CI=$WORKERS_CI CF_PAGES=$CF_PAGES"' }),
  "wrangler.json": WRANGLER,
  "worker.js": WORKER,
  "server.js": SERVER,
};

async function build(files: Files, runtime: Runtime | null) {
  await using checkout = await createCheckout(files);
  const { bundle, log } = await runBundler(bundler, checkout, undefined, { runtime });
  const { code } = bundle;
  return { log, code: code.runtime === "node" ? code.server.command : code.runtime };
}

const failureOf = async (files: Files, runtime: Runtime) => {
  const { kind, message, advice } = await bundleFailure(bundler, files, { runtime });
  return { kind, message, advice };
};

test("a requested Node server is one despite a wrangler configuration, and its build is not one for Workers", async () => {
  const server = await build(BOTH, "node");
  expect(server.code).toBe("node server.js");
  expect(server.log).toContain("WORKERS_CI= CF_PAGES=\n");
  for (const runtime of ["worker", null] as const) {
    const worker = await build(BOTH, runtime);
    expect([runtime, worker.code]).toEqual([runtime, "worker"]);
    expect(worker.log).toContain("WORKERS_CI=1 CF_PAGES=\n");
  }
});

test("a requested Node server starts with its start script or its Procfile, whatever its file exports", async () => {
  const files = { "package.json": start("node --import ./setup.js app.mjs"), "setup.js": "", "app.mjs": WORKER };
  expect((await build(files, "node")).code).toBe("node --import ./setup.js app.mjs");
  expect((await build({ "server.js": SERVER }, "node")).code).toBe("node server.js");
  expect((await build({ Procfile: "web: node run.js\n", "run.js": WORKER }, "node")).code).toBe("node run.js");
});

test("a requested Node server without a start command fails, and the error says what to add", async () => {
  expect(await failureOf({ "wrangler.json": WRANGLER, "worker.js": WORKER }, "node")).toEqual({
    kind: "user",
    message: "No start command was found for a Node server.",
    advice: expect.stringMatching(/^Add a start script to package.json, such as "node server.js"\..*PATCH \/v1\/apps/),
  });
  expect(await failureOf({ "package.json": start("vite"), "index.html": "hello" }, "node")).toMatchObject({
    message: "The start script runs vite, which starts no server here.",
  });
  expect(await failureOf({ "package.json": start("node dist/main.js") }, "node")).toMatchObject({
    message: "The start script runs dist/main.js, which does not exist after the build.",
  });
});

test("a requested Worker is never a Node server", async () => {
  const files = { "package.json": start("node server.js"), "server.js": SERVER };
  expect((await build(files, null)).code).toBe("node server.js");
  expect((await build({ ...files, "index.js": WORKER }, "worker")).code).toBe("worker");
  expect((await build({ ...files, "public/index.html": "hello" }, "worker")).code).toBe("worker");
  expect(await failureOf({ ...files, "index.js": SERVER }, "worker")).toEqual({
    kind: "user",
    message: "index.js exports no handler, which a Worker needs.",
    advice: expect.stringContaining("set runtime to node or to null"),
  });
  expect((await failureOf(files, "worker")).message).toMatch(/^There is nothing to deploy: no wrangler configuration/);
});
