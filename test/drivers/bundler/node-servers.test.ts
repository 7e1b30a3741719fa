import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { bundleFailure, type Content, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import {
  createRegistryBundler,
  publishProject,
  startManifest as manifest,
} from "../../support/builds/publish-project.ts";
import { readUploadForm } from "../../support/builds/read-upload-form.ts";
import type { PublishedPackage } from "../../support/builds/test-registry.ts";
import { scriptPathOf } from "../../support/builds/script-path.ts";

type Files = Readonly<Record<string, Content>>;

/** Packages with the forms of npm's: CommonJS, generated code, an optional package that is absent, native code. */
const PACKAGES: PublishedPackage[] = [
  {
    name: "framework",
    version: "1.0.0",
    files: {
      "index.js": `
        const http = require("http");
        const depd = require("depd");
        exports.compile = (body) => new Function("name", body);
        exports.listen = (handler, port) => http.createServer(handler).listen(port);
        exports.optional = () => require("not-installed");
        exports.readOwnFile = () => require("fs").readFileSync(require("path").join(__dirname, "own.txt"), "utf8");`,
      "own.txt": "of the package",
    },
    manifest: { dependencies: { depd: "1.0.0" } },
  },
  {
    name: "depd",
    version: "1.0.0",
    files: { "index.js": `eval("throw new Error('eval')");`, "lib/browser/index.js": "" },
  },
  { name: "native-database", version: "1.0.0", files: { "index.js": "", "binding.gyp": "{}" } },
];

/** The form of tslib and of a package that TypeScript compiled with it. */
const COMPILED_PACKAGES: PublishedPackage[] = [
  {
    name: "compiled",
    version: "1.0.0",
    files: {
      "index.js": `import { assign } from "helpers"; export const { greeting } = assign({ greeting: "hello" });`,
    },
    manifest: { type: "module", dependencies: { helpers: "1.0.0" } },
  },
  {
    name: "helpers",
    version: "1.0.0",
    files: {
      "helpers.js": `Object.defineProperty(exports, "__esModule", { value: true }); exports.assign = Object.assign;`,
      "modules/index.js": `import helpers from "../helpers.js"; export const { assign } = helpers;`,
      "modules/package.json": `{ "type": "module" }`,
    },
    manifest: { exports: { ".": { import: "./modules/index.js", default: "./helpers.js" } } },
  },
];

const setUp = () => createRegistryBundler(PACKAGES);
const publish = (files: Files, packages = PACKAGES) => publishProject(files, packages);

const SERVER = `
  const fs = require("fs");
  const path = require("path");
  const framework = require("framework");
  const hello = framework.compile("return 'hello ' + name");
  const view = path.join(__dirname, "..", "views", "index.html");
  const { env } = process;
  let ticks = 0;
  setInterval(() => ticks++, 5);
  const split = Buffer.from("split");
  const routes = {
    "/": (request, response) => response.end(hello("world")),
    "/port": (request, response) => response.end([env.PORT, env.NODE_ENV].join(" ")),
    "/pipe": (request, response) => fs.createReadStream(view).pipe(response),
    "/echo": (request, response) => request.pipe(response),
    "/split": (request, response) => {
      response.setHeader("content-length", split.length);
      response.write(split.subarray(0, 3));
      setTimeout(() => response.end(split.subarray(3)), 5);
    },
    "/ticks": (request, response) => response.end(String(ticks)),
    "/closed": (request, response) => {
      const events = [];
      for (const name of ["finish", "close"]) response.on(name, () => events.push(name));
      routes["/events"] = (_, next) => next.end(events.join());
      response.end("closed");
    },
    "/compressed": (request, response) => {
      response.setHeader("content-encoding", "gzip");
      response.end(require("zlib").gzipSync("compressed"));
    },
    "/required": (request, response) => response.end(eval("require")("path").join("a", "b")),
    "/package": (request, response) => response.end(framework.readOwnFile()),
    "/optional": (request, response) => {
      try { framework.optional(); } catch (error) { response.end(error.code); }
    },
    "/write": (request, response) => fs.writeFile("data.json", "{}", (error) => response.end(String(error?.code))),
  };
  if (require.main === module)
    setTimeout(() => framework.listen((request, response) => routes[request.url](request, response), process.env.PORT), 300);`;

/** Requests a path as a browser does, which accepts compressed responses. */
async function fetchCompressed(port: number, path: string): Promise<[encoding: string | undefined, text: string]> {
  const headers = { host: `app.localhost:${port}`, "accept-encoding": "gzip" };
  const [response] = (await once(request({ port, path, headers }).end(), "response")) as [IncomingMessage];
  return [response.headers["content-encoding"], gunzipSync(await buffer(response)).toString()];
}

test("a server that listens and exports nothing runs as under Node", async () => {
  await using app = await publish({
    "package.json": manifest("PORT=80 node ./bin/www", { dependencies: { framework: "1.0.0" } }),
    "bin/www": `#!/usr/bin/env node\n${SERVER}`,
    "views/index.html": "<h1>a view</h1>",
    "index.js": "module.exports = {};",
    ".env": "SECRET=1",
  });
  await app.published;
  expect(app.bundle).toMatchObject({ framework: "node", assets: null, warnings: [] });
  expect(app.log).not.toContain("WARNING");
  // A server has the same state in all requests.
  const ticks = Number(await app.get("/ticks"));
  expect(
    await Promise.all(["/", "/port", "/pipe", "/split", "/required", "/package", "/optional"].map(app.get)),
  ).toEqual([
    "hello world",
    "8080 production",
    "<h1>a view</h1>",
    "split",
    "a/b",
    "of the package",
    "MODULE_NOT_FOUND",
  ]);
  expect(await app.post("/echo", "x".repeat(100_000))).toHaveLength(100_000);
  expect(await app.get("/closed")).toBe("closed");
  expect(await app.get("/events")).toBe("finish,close");
  await expect.poll(async () => Number(await app.get("/ticks"))).toBeGreaterThan(ticks);
  expect(await app.get("/write")).toBe("EPERM");
  const compressed = await fetchCompressed(app.port, "/compressed");
  expect(compressed).toEqual(["gzip", "compressed"]);
  const { modules } = await readUploadForm(scriptPathOf(app.bundle));
  expect(Object.keys(modules)).not.toContain(".env");
});

test("a package that imports the ES module of a CommonJS package gets its exports as under Node", async () => {
  await using app = await publish(
    {
      "package.json": manifest("node server.mjs", { dependencies: { compiled: "1.0.0" } }),
      "server.mjs": `
        import http from "node:http";
        import { greeting } from "compiled";
        http.createServer((request, response) => response.end(greeting)).listen(process.env.PORT);`,
    },
    COMPILED_PACKAGES,
  );
  await app.published;
  expect(await app.get("/")).toBe("hello");
});

test("an entry that exports a handler and listens is served by its handler", async () => {
  await using app = await publish({
    "package.json": manifest("node index.mjs"),
    "index.mjs": `
      import { createServer } from "node:http";
      import { spawn } from "node:child_process";
      createServer((request, response) => response.end("listening")).listen(3000);
      export default { fetch: () => new Response("exported " + typeof spawn) };`,
  });
  await app.published;
  expect(await app.get("/")).toBe("exported function");
  expect(app.bundle.warnings).toEqual([expect.stringContaining("index.mjs imports node:child_process")]);
});

test.each([
  ["throws", `throw new Error("DATABASE_URL is not set");`],
  ["exits", `console.error("DATABASE_URL is", "not set"); process.exit(1);`],
])("an app that %s before it listens is not published, and the error says why", async (_case, code) => {
  await using app = await publish({
    "package.json": manifest("node server.js"),
    "server.js": `require("http"); ${code}`,
  });
  await expect(app.published).rejects.toThrow("DATABASE_URL is not set");
});

test("a worker stays the deployed script beside a start script for Node", async () => {
  await using setup = await setUp();
  await using checkout = await createCheckout({
    "package.json": manifest("node dev.js"),
    "dev.js": `require("http").createServer().listen(3000);`,
    "src/index.ts": `import { words } from "./words.ts"; export default { fetch: () => new Response(words) };`,
    "src/words.ts": `export const words = "the worker";`,
  });
  const { bundle } = await runBundler(setup.bundler, checkout);
  const { metadata, main } = await readUploadForm(scriptPathOf(bundle));
  expect([metadata.main_module, metadata.bindings, bundle.framework]).toEqual(["index.js", [], null]);
  expect(main).toContain("the worker");
});

test.each([
  ["native-database", "native-database is a native module, and src/db.ts imports it", "JavaScript or WebAssembly"],
  ["node:sqlite", "src/db.ts imports node:sqlite", "d1_databases"],
])("a server that needs %s fails with the cause and what to do", async (name, message, advice) => {
  await using setup = await setUp();
  const dependencies = name.startsWith("node:") ? {} : { [name]: "1.0.0" };
  const failure = await bundleFailure(setup.bundler, {
    "package.json": manifest("tsx src/server.ts", { dependencies }),
    "src/server.ts": `import "./db"; import http from "node:http"; http.createServer().listen(80);`,
    "src/db.ts": `import * as database from "${name}"; export const open: unknown = database;`,
  });
  expect([failure.kind, failure.message, failure.advice]).toEqual([
    "user",
    expect.stringContaining(message),
    expect.stringContaining(advice),
  ]);
});
