import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { type Content, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import {
  createRegistryBundler,
  publishProject,
  startManifest as manifest,
} from "../../support/builds/publish-project.ts";
import type { PublishedPackage } from "../../support/builds/test-registry.ts";

type Files = Readonly<Record<string, Content>>;

/** Packages with the forms of npm's: CommonJS, generated code, an optional package that is absent, a program, a start-up script. */
const PACKAGES: PublishedPackage[] = [
  {
    name: "framework",
    version: "1.0.0",
    files: {
      "index.js": `
        const http = require("http");
        exports.compile = (body) => new Function("name", body);
        exports.listen = (handler, port) => http.createServer(handler).listen(port);
        exports.optional = () => require("not-installed");
        exports.readOwnFile = () => require("fs").readFileSync(require("path").join(__dirname, "own.txt"), "utf8");`,
      "own.txt": "of the package",
      "cli.js": `#!/usr/bin/env node
        const [, , command, file] = process.argv;
        if (command !== "start") process.exit(9);
        const app = require(require("path").resolve(file));
        require("http").createServer((request, response) => response.end(app.greeting)).listen(process.env.PORT);`,
    },
    manifest: { bin: { framework: "cli.js" } },
  },
  // The form of a package with native code: its install script builds what it loads.
  {
    name: "native-database",
    version: "1.0.0",
    files: { "index.js": `exports.value = require("./build.json");`, "binding.gyp": "{}" },
    manifest: { scripts: { install: `echo '"built"' >build.json` } },
  },
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
    "/sloppy": (request, response) => {
      undeclared = 0777;
      response.end(String(undeclared) + arguments.length + this);
    },
    "/files": (request, response) => response.end(fs.readdirSync(path.join(__dirname, "..")).join()),
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
    "package.json": manifest("node ./bin/www", { dependencies: { framework: "1.0.0" } }),
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
    "3000 production",
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
  expect(await app.get("/sloppy")).toBe("5115[object Object]");
  const compressed = await fetchCompressed(app.port, "/compressed");
  expect(compressed).toEqual(["gzip", "compressed"]);
  expect(await app.get("/files")).toBe(".env,bin,index.js,node_modules,package-lock.json,package.json,views");
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

test("an entry that listens runs as under Node, also if it exports a handler", async () => {
  await using app = await publish({
    "package.json": manifest("node index.mjs"),
    "index.mjs": `
      import { createServer } from "node:http";
      createServer((request, response) => response.end("listening")).listen(3000);
      export default { fetch: () => new Response("exported") };`,
  });
  await app.published;
  expect(await app.get("/")).toBe("listening");
  expect(app.bundle.warnings).toEqual([]);
});

test("a server can use SQLite of Node.js, packages with native code, and /data", async () => {
  await using app = await publish({
    "package.json": manifest("node src/server.ts", { type: "module", dependencies: { "native-database": "1.0.0" } }),
    "src/server.ts": `
      import http from "node:http";
      import { open } from "./db.ts";
      const database = open(process.env["SQLITE_PATH"] as string);
      http.createServer((request, response) => response.end(database)).listen(process.env["PORT"]);`,
    "src/db.ts": `
      import { DatabaseSync } from "node:sqlite";
      import native from "native-database";
      export function open(file: string): string {
        const database = new DatabaseSync(file);
        database.exec("CREATE TABLE words (word TEXT); INSERT INTO words VALUES ('stored')");
        return [file, database.prepare("SELECT word FROM words").get()?.["word"], native.value].join(" ");
      }`,
  });
  await app.published;
  expect(await app.get("/")).toBe("/data/app.db stored built");
});

test("a Worker that a start script for another program does not name stays the deployed script", async () => {
  await using setup = await createRegistryBundler([]);
  await using checkout = await createCheckout({
    "package.json": manifest("wrangler dev"),
    "dev.js": `require("http").createServer().listen(3000);`,
    "src/index.ts": `import { words } from "./words.ts"; export default { fetch: () => new Response(words) };`,
    "src/words.ts": `export const words = "the worker";`,
  });
  const { bundle } = await runBundler(setup.bundler, checkout);
  expect([bundle.code.runtime, bundle.framework]).toEqual(["worker", null]);
});

const LISTEN = `require("http").createServer((request, response) =>
  response.end([process.env.MODE, process.argv[2], require("fs").existsSync("prepared")].join(" "))).listen(process.env.PORT);`;

describe("a start script is run by a shell", { concurrent: true }, () => {
  test.each<[string, Record<string, string>, Files, string]>([
    ["with assignments and arguments", { start: "MODE=a node server.js b" }, {}, "a b false"],
    ["that continues after other commands", { start: "touch prepared && MODE=a node server b" }, {}, "a b true"],
    ["that runs another script", { start: "npm run serve", serve: "MODE=c node server.js d" }, {}, "c d false"],
    ["after its prestart script", { start: "node server.js", prestart: "touch prepared" }, {}, "  true"],
    ["without what builds the project", { start: "npm run build && node server.js e" }, {}, " e false"],
    [
      "unless a Procfile has a command",
      { start: "node server.js" },
      { Procfile: "web: MODE=f node server.js g\n" },
      "f g false",
    ],
  ])("%s", async (_case, scripts, files, expected) => {
    await using app = await publish({ "package.json": JSON.stringify({ scripts }), "server.js": LISTEN, ...files });
    await app.published;
    expect(await app.get("/")).toBe(expected);
  });

  test("that finds the programs of packages", async () => {
    await using app = await publish({
      "package.json": manifest("framework start app.js", { dependencies: { framework: "1.0.0" } }),
      "app.js": `exports.greeting = "hello";`,
    });
    await app.published;
    expect(await app.get("/")).toBe("hello");
    expect(app.log).toContain('Node server: it starts with "framework start app.js".');
  });

  test("in the folder of a package of a workspace", async () => {
    await using setup = await createRegistryBundler([]);
    await using checkout = await createCheckout({
      "package.json": JSON.stringify({ workspaces: ["packages/*"] }),
      "packages/api/package.json": manifest("node server.js", { name: "api", dependencies: { words: "*" } }),
      "packages/api/server.js": `require("http").createServer((q, r) => r.end(require("words"))).listen(process.env.PORT);`,
      "packages/words/package.json": JSON.stringify({ name: "words", version: "1.0.0" }),
      "packages/words/index.js": `module.exports = "words";`,
    });
    const { bundle } = await runBundler(setup.bundler, checkout, undefined, { rootDirectory: "packages/api" });
    expect(bundle.code).toMatchObject({ runtime: "node", server: { directory: "packages/api" } });
  });
});

test.each([
  ["throws", `throw new Error("DATABASE_URL is not set");`],
  ["exits", `console.error("DATABASE_URL is", "not set"); process.exit(1);`],
])("an app that %s before it listens is not published, and the error says why", async (_case, code) => {
  await using app = await publish({
    "package.json": manifest("node server.js"),
    "server.js": `require("http"); console.log("starting"); ${code}`,
  });
  await expect(app.published).rejects.toMatchObject({
    message: expect.stringContaining("DATABASE_URL is not set"),
    printed: expect.arrayContaining(["starting"]),
  });
});

test("a start command that names an environment file starts without it, because variables of the app take its place", async () => {
  const server = `require("http").createServer((request, response) => response.end("started")).listen(process.env.PORT);`;
  const start = "node --env-file=.env --env-file .env.local server.js";
  await using app = await publish({ "package.json": manifest(start), "server.js": server });
  await app.published;
  expect(await app.get("/")).toBe("started");
});

test("a program that is not installed is named by the error", async () => {
  await using app = await publish({ "package.json": manifest("strapi start") });
  await expect(app.published).rejects.toThrow("strapi: not found");
});
