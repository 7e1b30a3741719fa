import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { describe, expect, test } from "vitest";
import { bundleFailure } from "../../support/builds/bundle-checkout.ts";
import { createRegistryBundler, publishProject, startManifest } from "../../support/builds/publish-project.ts";
import type { PublishedPackage } from "../../support/builds/test-registry.ts";

/** The used part of Fastify and its program. */
const FASTIFY: PublishedPackage = {
  name: "fastify-cli",
  version: "5.0.0",
  files: {
    "cli.js": `#!/usr/bin/env node
      const http = require("http");
      const plugin = require(require("path").resolve(process.argv.at(-1)));
      const routes = {};
      const instance = {
        get: (path, handler) => void (routes[path] = handler),
        register: async (plugin, settings) => plugin(instance, settings),
      };
      plugin(instance, {}).then(() =>
        http.createServer(({ url }, response) => response.end(routes[url]?.() ?? "none")).listen(process.env.PORT));`,
  },
  manifest: { bin: { fastify: "cli.js" } },
};

/** Loads the modules of a folder, as @fastify/autoload does. */
const AUTOLOAD: PublishedPackage = {
  name: "@fastify/autoload",
  version: "6.0.0",
  files: {
    "index.js": `
      const { readdir } = require("fs/promises");
      const path = require("path");
      const { pathToFileURL } = require("url");
      module.exports = async function autoload(fastify, { dir }) {
        for (const entry of await readdir(dir, { withFileTypes: true })) {
          const file = path.join(dir, entry.name);
          if (entry.isDirectory()) await autoload(fastify, { dir: file });
          else if (file.endsWith(".mjs")) (await import(pathToFileURL(file).href)).default(fastify);
          else require(file)(fastify);
        }
      };`,
  },
};

test("a program of a package loads the modules of a folder that the app names at run time", async () => {
  await using app = await publishProject(
    {
      "package.json": startManifest("fastify start -l info app.js", {
        dependencies: { "fastify-cli": "5.0.0", "@fastify/autoload": "6.0.0" },
      }),
      "app.js": `
        const path = require("path");
        module.exports = async (fastify, options) => {
          for (const folder of ["routes", "modules"])
            await fastify.register(require("@fastify/autoload"), { dir: path.join(__dirname, folder) });
        };`,
      "routes/root.js": `module.exports = (fastify) => fastify.get("/", () => "root");`,
      "routes/nested/index.js": `module.exports = (fastify) => fastify.get("/nested", () => require("../../shared").word);`,
      "modules/late.mjs": `const word = await Promise.resolve("late"); export default (fastify) => fastify.get("/late", () => word);`,
      "shared.js": `exports.word = "shared";`,
      "test/root.test.js": `this is not JavaScript`,
    },
    [FASTIFY, AUTOLOAD],
  );
  await app.published;
  expect(await Promise.all(["/", "/nested", "/late"].map(app.get))).toEqual(["root", "shared", "late"]);
  expect(app.bundle).toMatchObject({ framework: "node", warnings: [] });
});

test.each([
  ["CommonJS", {}, { "app.js": `require("http"); module.exports = (_, response) => response.end("mine");` }],
  [
    "an ES module",
    { type: "module" },
    { "src/index.js": `import "node:http"; export default (_, response) => response.end("mine");` },
  ],
  [
    "an ES module that another one serves",
    { type: "module" },
    {
      "src/index.js": `import "./start.js"; export default (_, response) => response.end("exported");`,
      "src/start.js": `
        import http from "node:http";
        http.createServer((_, response) => response.end("mine")).listen(process.env.PORT);`,
    },
  ],
])("a file without a start script that exports its request handler is served: %s", async (_kind, manifest, files) => {
  await using app = await publishProject({ "package.json": JSON.stringify(manifest), ...files }, []);
  await app.published;
  expect(await app.get("/")).toBe("mine");
});

test("the files of public are served beside a request handler that a file exports", async () => {
  const files = {
    "package.json": JSON.stringify({ type: "module" }),
    "index.js": `import "node:http"; export default (request, response) => response.end("handled " + request.url);`,
    "public/style.css": "body {}",
    "public/index.html": "page",
  };
  await using app = await publishProject(files, []);
  await app.published;
  const paths = ["/style.css?v=1", "/", "/api/users", "/../index.js", "/%2e%2e/index.js"];
  expect(await Promise.all(paths.map(app.get))).toEqual([
    "body {}",
    "page",
    "handled /api/users",
    "handled /../index.js",
    "handled /%2e%2e/index.js",
  ]);
  const requested = get({ port: app.port, path: "/style.css", headers: { host: "app.localhost" } });
  const [response] = (await once(requested, "response")) as [IncomingMessage];
  expect(response.headers["content-type"]).toBe("text/css; charset=utf-8");
  response.destroy();
});

test("a start script that runs a file that the build does not write fails with what to do", async () => {
  await using setup = await createRegistryBundler([]);
  const failure = await bundleFailure(setup.bundler, { "package.json": startManifest("node dist/server.js") });
  expect([failure.message, failure.advice]).toEqual([
    "The start script runs dist/server.js, which does not exist after the build.",
    expect.stringContaining('let "start" run'),
  ]);
});

test.each([
  [
    "a program that is not installed",
    { "package.json": startManifest("strapi start", { main: "index.js" }), "index.js": "console.log(1);" },
    "ended with status 127 before it listened on a port: sh: 1: strapi: not found",
  ],
  [
    "a file that only prints",
    { "package.json": startManifest("node index.js"), "index.js": "console.log(1);" },
    "The server ended with status 0 before it listened on a port.",
  ],
  [
    "a server of Deno",
    { "package.json": startManifest("deno run -A main.ts"), "main.ts": "Deno.serve(() => new Response());" },
    "deno: not found",
  ],
])("a start script that runs %s fails when it is started", async (_case, files, message) => {
  await using app = await publishProject(files, []);
  await expect(app.published).rejects.toThrow(message);
});

describe("a project whose build writes pages", () => {
  const files = {
    "build.sh": "mkdir -p dist && echo page >dist/index.html",
    "server/index.js": `
      const { readFileSync } = require("fs");
      require("http")
        .createServer(({ url }, response) => response.end(url === "/api" ? "data" : readFileSync("dist/index.html")))
        .listen(process.env.PORT);`,
  };
  const pages = (start: string, dependencies = {}) =>
    JSON.stringify({ scripts: { build: "sh build.sh", start }, dependencies, devDependencies: { vite: "8.0.0" } });
  const TOOLS = [
    { name: "vite", version: "8.0.0", files: { "index.js": "" } },
    { name: "webpack", version: "5.0.0", files: { "index.js": `exports.http = require("http");` } },
  ];

  test("is served by the server that its start script runs", async () => {
    await using app = await publishProject({ ...files, "package.json": pages("node server") }, TOOLS);
    await app.published;
    expect(await Promise.all(["/", "/api"].map(app.get))).toEqual(["page\n", "data"]);
  });

  test("is static if its start script runs a server for development", async () => {
    await using app = await publishProject(
      {
        ...files,
        "package.json": pages("node scripts/start.js", { webpack: "5.0.0" }),
        "scripts/start.js": `require("webpack").http.createServer().listen(3000);`,
      },
      TOOLS,
    );
    await app.published;
    expect(await Promise.all(["/", "/api"].map(app.get))).toEqual(["page\n", "page\n"]);
  });
});
