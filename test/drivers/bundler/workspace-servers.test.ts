import { expect, test } from "vitest";
import { publishProject } from "../../support/builds/publish-project.ts";
import type { PublishedPackage } from "../../support/builds/test-registry.ts";

const PACKAGES: PublishedPackage[] = [
  { name: "words", version: "1.0.0", files: { "index.js": "module.exports = 'words of a package';" } },
];
const WEB_SCRIPTS = { build: "node build.js" };

/** A server in one package serves the page that another one builds. */
const workspace = (root: object) => ({
  "package.json": JSON.stringify({ private: true, ...root }),
  "web/package.json": JSON.stringify({
    name: "web",
    version: "1.0.0",
    scripts: WEB_SCRIPTS,
    devDependencies: { words: "1.0.0" },
  }),
  "web/index.html": "<script type=module src=/main.js></script>",
  "web/build.js": `
    require("fs").mkdirSync("dist", { recursive: true });
    require("fs").writeFileSync("dist/index.html", "a page with " + require("words"));`,
  "api/package.json": JSON.stringify({
    name: "@org/api",
    version: "1.0.0",
    scripts: { start: "node index.js" },
    dependencies: { words: "1.0.0" },
  }),
  "api/index.js": `
    const fs = require("fs");
    require("http").createServer(({ url }, response) => response.end(
      url === "/" && fs.existsSync("../web/dist") ? fs.readFileSync("../web/dist/index.html") : require("words"),
    )).listen(process.env.PORT);`,
});

const WORKSPACES = { workspaces: ["web", "api"] };

test.each([
  ["npm", WORKSPACES, { build: "npm run build -w web", start: "npm start -w @org/api" }],
  ["Yarn", WORKSPACES, { build: "yarn workspace web build", start: "yarn workspace @org/api start" }],
  ["pnpm", { packageManager: "pnpm@10.0.0" }, { build: "pnpm -r build", start: "pnpm --filter @org/api start" }],
  ["a file", WORKSPACES, { build: "npm run build --workspaces --if-present", start: "cd api && node index.js" }],
])(
  "a server that the root of a workspace starts serves the pages that it builds: %s",
  async (name, fields, scripts) => {
    const files = {
      ...workspace({ ...fields, scripts }),
      ...(name === "pnpm" && { "pnpm-workspace.yaml": "packages: [web, api]" }),
      ...(name === "Yarn" && { "yarn.lock": "" }),
    };
    await using app = await publishProject(files, PACKAGES);
    await app.published;
    expect(app.log).toContain("Deploying the whole workspace, because its root builds it and starts api.");
    expect([await app.get("/"), await app.get("/words")]).toEqual([
      "a page with words of a package",
      "words of a package",
    ]);
  },
);

test("a server that the root of a workspace starts is deployed alone if the root builds nothing", async () => {
  await using app = await publishProject(
    workspace({ ...WORKSPACES, scripts: { start: "npm start --workspace=api" } }),
    PACKAGES,
  );
  await app.published;
  expect(await app.get("/words")).toBe("words of a package");
  expect(app.log).toContain("Deploying api, which the root of the workspace starts.");
});

test("a tool of a package that the root of a workspace starts is no server, and its pages are deployed", async () => {
  const { "web/package.json": web, "web/index.html": page } = workspace({});
  const files = {
    "package.json": JSON.stringify({
      workspaces: ["web", "tools"],
      scripts: { build: "true", start: "node tools/dev.js" },
    }),
    "web/package.json": web,
    "web/index.html": page,
    "web/build.js": `require("fs").mkdirSync("dist"); require("fs").writeFileSync("dist/index.html", require("words"));`,
    "tools/package.json": JSON.stringify({ name: "tools", version: "1.0.0" }),
    "tools/dev.js": `require("child_process").spawn("vite", { cwd: "web" });`,
  };
  await using app = await publishProject(files, PACKAGES);
  await app.published;
  expect(app.log).toContain("Deploying web, the only package of the workspace that can be deployed.");
  expect(await app.get("/")).toBe("words of a package");
});
