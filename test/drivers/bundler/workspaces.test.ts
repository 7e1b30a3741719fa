import { access, readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bundler } from "../../../domain/ports/bundler.ts";
import { bundleFailure, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";
import { GREETING_PACKAGES } from "../../support/builds/greeting-packages.ts";
import { readUploadForm } from "../../support/builds/read-upload-form.ts";
import { startRegistry } from "../../support/builds/test-registry.ts";
import { workspaceFiles, WORKSPACES } from "../../support/builds/workspace-files.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";
import { scriptPathOf } from "../../support/builds/script-path.ts";

const FRAMEWORK = { name: "astro", version: "7.0.0", files: { "index.js": "" } };
const disposables = new AsyncDisposableStack();
let bundler: Bundler;

beforeAll(async () => {
  const registry = disposables.use(await startRegistry([...GREETING_PACKAGES, FRAMEWORK]));
  const cache = disposables.use(await temporaryFolder());
  bundler = createTestBundler({ registry: registry.url }, cache.path);
});
afterAll(() => disposables.disposeAsync());

const WORKER = `export default { fetch: () => new Response("hello") };`;
const CONFIG = JSON.stringify({ main: "index.js", compatibility_date: "2026-06-01" });

describe("a workspace", () => {
  test("is installed at its root, and its only app is built after its libraries", async () => {
    await using checkout = await createCheckout(workspaceFiles({ workspaces: WORKSPACES }, "*"));
    const { bundle, log } = await runBundler(bundler, checkout);
    expect((await readUploadForm(scriptPathOf(bundle))).main).toContain("hello from the registry");
    expect(await readFile(`${bundle.assets?.directory}/index.html`, "utf8")).toBe("<h1>built</h1>\n");
    expect(bundle.rootDirectory).toBe("apps/api");
    expect(log).toContain("Deploying apps/api, the only package of the workspace that can be deployed.\n");
    expect(log).toContain("> building packages/text\n");
  });

  test("of pnpm is installed without the packages that the app does not need", async () => {
    await using checkout = await createCheckout({
      ...workspaceFiles({ packageManager: "pnpm@10.0.0" }, "workspace:*"),
      "pnpm-workspace.yaml": "packages:\n  - apps/*\n  - packages/**\n  - '!**/test/**'\n",
      "packages/other/package.json": `{"name": "other", "dependencies": {"greeting": "1.0.0"}}`,
      "packages/text/test/app/index.html": "<h1>excluded</h1>",
      "packages/text/test/app/package.json": `{"name": "excluded"}`,
    });
    const { bundle } = await runBundler(bundler, checkout);
    expect((await readUploadForm(scriptPathOf(bundle))).main).toContain("hello from the registry");
    await access(`${checkout.sourceDirectory}/packages/text/node_modules/greeting`);
    await expect(access(`${checkout.sourceDirectory}/packages/other/node_modules`)).rejects.toThrow("ENOENT");
  });

  test("with several apps fails with the list of them", async () => {
    const files = {
      ...workspaceFiles({ workspaces: WORKSPACES }, "*"),
      "apps/site/package.json": `{"name": "site", "version": "1.0.0"}`,
      "apps/site/index.html": "<h1>site</h1>",
    };
    expect(await bundleFailure(bundler, files)).toMatchObject({
      kind: "user",
      message: "The repository is a workspace with 2 packages that can be deployed: apps/api, apps/site.",
      advice: expect.stringContaining("Set root_directory to one of them"),
    });
  });
});

test.each([
  [
    "the build script of the root",
    { scripts: { build: "npm run build:all", "build:all": "turbo build --filter=site" } },
    {},
  ],
  ["the build script of the root, by its folder", { scripts: { build: "npm --prefix ./apps/site run build" } }, {}],
  ["vercel.json", {}, { "vercel.json": JSON.stringify({ outputDirectory: "apps/site/dist" }) }],
])("of several apps of a workspace, the one that %s names is deployed", async (_case, root, files) => {
  await using checkout = await createCheckout({
    "package.json": JSON.stringify({ private: true, workspaces: WORKSPACES, ...root }),
    "apps/admin/package.json": `{ "name": "admin", "version": "1.0.0" }`,
    "apps/admin/index.html": "<h1>admin</h1>",
    "apps/site/package.json": `{ "name": "site", "version": "1.0.0" }`,
    "apps/site/index.html": "<h1>site</h1>",
    ...files,
  });
  const { bundle } = await runBundler(bundler, checkout);
  expect(bundle.rootDirectory).toBe("apps/site");
});

test.each([
  ["no build script", {}],
  ["a build script that builds its packages", { scripts: { build: "pnpm -r build" } }],
])("a workspace whose root has a framework and %s deploys its only app", async (_case, root) => {
  await using checkout = await createCheckout({
    "package.json": JSON.stringify({ workspaces: WORKSPACES, devDependencies: { astro: "7.0.0" }, ...root }),
    "apps/site/package.json": `{ "name": "site", "version": "1.0.0" }`,
    "apps/site/index.html": "<h1>site</h1>",
  });
  const { bundle } = await runBundler(bundler, checkout);
  expect(bundle.rootDirectory).toBe("apps/site");
});

test("a workspace whose root has a framework and builds itself deploys the root", async () => {
  await using checkout = await createCheckout({
    "package.json": JSON.stringify({
      workspaces: WORKSPACES,
      scripts: { build: "mkdir dist && echo root >dist/index.html" },
      devDependencies: { astro: "7.0.0" },
    }),
    "apps/site/package.json": `{ "name": "site", "version": "1.0.0" }`,
    "apps/site/index.html": "<h1>site</h1>",
  });
  const { bundle } = await runBundler(bundler, checkout);
  expect(bundle.rootDirectory).toBe(".");
});

test("a workspace whose root has settings for another host is built as there", async () => {
  await using checkout = await createCheckout({
    "package.json": JSON.stringify({ private: true, workspaces: WORKSPACES }),
    "netlify.toml": `[build]\ncommand = "cp -r apps/site/source apps/site/dist"\npublish = "apps/site/dist"\n`,
    "apps/site/package.json": `{ "name": "site", "version": "1.0.0" }`,
    "apps/site/source/index.html": "<h1>site</h1>",
    "apps/admin/package.json": `{ "name": "admin", "version": "1.0.0" }`,
    "apps/admin/index.html": "<h1>admin</h1>",
  });
  const { bundle } = await runBundler(bundler, checkout);
  expect(bundle.rootDirectory).toBe(".");
  expect(await readFile(`${bundle.assets?.directory}/index.html`, "utf8")).toBe("<h1>site</h1>");
});

test("a workspace whose other apps are tests and examples deploys its only app", async () => {
  await using checkout = await createCheckout({
    "package.json": JSON.stringify({ private: true, workspaces: ["web", "examples/*", "e2e"] }),
    "web/package.json": `{ "name": "web", "version": "1.0.0" }`,
    "web/index.html": "<h1>web</h1>",
    "examples/simple/package.json": `{ "name": "simple", "version": "1.0.0" }`,
    "examples/simple/index.html": "<h1>simple</h1>",
    "e2e/package.json": `{ "name": "e2e", "version": "1.0.0" }`,
    "e2e/index.html": "<h1>e2e</h1>",
  });
  const { bundle } = await runBundler(bundler, checkout);
  expect(bundle.rootDirectory).toBe("web");
});

test("a repository with apps in folders fails without root_directory, and the advice names the folders", async () => {
  const files = { "README.md": "# Two apps", "shop/package.json": "{}", "apps/site/index.html": "<h1>site</h1>" };
  const { message, advice } = await bundleFailure(bundler, files);
  expect([message, advice]).toEqual([
    expect.stringContaining("nothing to deploy in this folder"),
    expect.stringContaining("Set root_directory to the folder of the app, such as apps/site, shop,"),
  ]);
});

describe("a root directory", () => {
  test("that does not exist is a failure with the folders that do", async () => {
    const files = { "api/package.json": "{}", "api/index.js": WORKER };
    expect(await bundleFailure(bundler, files, { rootDirectory: "apps/api" })).toMatchObject({
      kind: "user",
      message: 'The root directory "apps/api" is not a folder of the repository.',
      advice: "Set root_directory to a folder of the repository, such as api (PATCH /v1/apps/{id}), and deploy again.",
    });
  });

  verifies([hazard(15), hazard(16)], "that a link leads to is refused, also one that the build creates", async () => {
    const message = expect.stringContaining("leads through a link. Links are not followed.");
    const linked = { web: { link: "/etc" } };
    expect(await bundleFailure(bundler, linked, { rootDirectory: "web/ssl" })).toMatchObject({ kind: "user", message });
    const build = "mv ../api ../other && ln -s other ../api";
    const replaced = {
      "api/package.json": JSON.stringify({ scripts: { build } }),
      "api/wrangler.json": CONFIG,
      "api/index.js": WORKER,
    };
    expect(await bundleFailure(bundler, replaced, { rootDirectory: "api" })).toMatchObject({ kind: "user", message });
  });
});
