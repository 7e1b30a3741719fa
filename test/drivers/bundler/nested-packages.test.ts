import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { findNestedPackages } from "../../../server/drivers/bundler/nested-packages.ts";
import { createCheckout } from "../../support/builds/bundle-checkout.ts";
import { publishProject } from "../../support/builds/publish-project.ts";
import type { PublishedPackage } from "../../support/builds/test-registry.ts";

const PACKAGES: PublishedPackage[] = [
  { name: "words", version: "1.0.0", files: { "index.js": "module.exports = 'words of a package';" } },
];
const manifest = (scripts: object, fields: object = { dependencies: { words: "1.0.0" } }) =>
  JSON.stringify({ name: "part", scripts, ...fields });

/** Builds the page of a client, with a package of its own. */
const CLIENT = {
  "client/package.json": manifest({ build: "node build.js" }),
  "client/public/index.html": "<div id=root></div>",
  "client/build.js": `
    require("fs").mkdirSync("build", { recursive: true });
    require("fs").writeFileSync("build/index.html", require("words"));`,
};
/** Serves the page, or says which packages of the client are there. */
const SERVER = `
  const fs = require("fs");
  require("http").createServer(({ url }, response) => response.end(
    url === "/" ? fs.readFileSync("client/build/index.html") : String(fs.existsSync("client/node_modules/words")),
  )).listen(process.env.PORT);`;

test.each([
  ["npm", { postinstall: "cd client && npm install", build: "(cd client && npm ci && npm run build)" }],
  [
    "Yarn",
    {
      build:
        "yarn --version | grep -q ^1 && yarn && yarn --cwd client install --mutex network && yarn --cwd client build",
    },
  ],
  ["the script of Heroku", { "heroku-postbuild": "npm install --prefix client && npm run build --prefix client" }],
])("a client in a folder is built with its packages, which the server does not get: %s", async (_case, scripts) => {
  const files = {
    "package.json": manifest({ ...scripts, start: "node server.js" }, {}),
    "server.js": SERVER,
    ...CLIENT,
  };
  await using app = await publishProject(files, PACKAGES);
  await app.published;
  expect([await app.get("/"), await app.get("/packages")]).toEqual(["words of a package", "false"]);
  expect(app.log).toContain("Installing the packages of client.");
});

const API = {
  "api/package.json": manifest({ start: "node server.js" }),
  "api/server.js": `require("http").createServer((_, response) => response.end(require("words"))).listen(process.env.PORT);`,
};

test.each([
  ["npm start --prefix api"],
  ["cd api && npm install && npm start"],
  ["cd api && node server.js"],
  ["node api/server.js"],
])("a server in a folder starts with its packages: %s", async (start) => {
  await using app = await publishProject({ "package.json": manifest({ start }, {}), ...API }, PACKAGES);
  await app.published;
  expect(await app.get("/")).toBe("words of a package");
});

test("a folder with pages whose code the server imports keeps its packages", async () => {
  const files = {
    "package.json": manifest({ postinstall: "cd api && npm install", start: "node server.js" }, {}),
    "server.js": `require("./api/app.js");`,
    "api/app.js": API["api/server.js"],
    "api/package.json": API["api/package.json"],
    "api/public/index.html": "<p>A page</p>",
  };
  await using app = await publishProject(files, PACKAGES);
  await app.published;
  expect(await app.get("/")).toBe("words of a package");
});

const inFolder = (script: string, name = "build") => ({ [name]: script });

test.each([
  [inFolder("cd web && npm ci && cd ../admin && npm ci"), ["web", "admin"]],
  [inFolder("npm-run-all build:*", "prebuild"), []],
  [{ build: "npm-run-all build:*", "build:web": "npm --prefix=./web/ run build" }, ["web"]],
  [{ postinstall: "npm run deps", deps: "yarn --cwd admin" }, ["admin"]],
  [{ build: 'concurrently "cd web && npm run build" "cd admin && npm run build"' }, ["web", "admin"]],
  [inFolder("cd web && npm start", "dev"), []],
  [{ start: "node server", server: "cd web && nodemon" }, []],
  [inFolder("cd web && npm ci && cd - && cd $ADMIN && cd admin"), ["web", "admin"]],
  [inFolder("cd empty && cd ../linked && cd ../.. && cd / && cd absent"), []],
  [inFolder("node web/server/main.js", "start"), ["web/server", "web"]],
])("the scripts %j name the packages in %j", async (scripts, expected) => {
  await using checkout = await createCheckout({
    "web/package.json": manifest({}),
    "web/server/package.json": manifest({}),
    "admin/package.json": manifest({}),
    "empty/package.json": manifest({}, {}),
  });
  await mkdir(path.join(checkout.sourceDirectory, "absent"));
  await symlink("web", path.join(checkout.sourceDirectory, "linked"));
  const found = await findNestedPackages(checkout.sourceDirectory, scripts);
  expect(found.toSorted()).toEqual(expected.toSorted());
});
