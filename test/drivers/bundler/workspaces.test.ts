import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bundler } from "../../../domain/ports/bundler.ts";
import { bundleFailure, type Content, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";
import { GREETING_PACKAGES } from "../../support/builds/greeting-packages.ts";
import { readUploadForm } from "../../support/builds/read-upload-form.ts";
import { startRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const disposables = new AsyncDisposableStack();
let bundler: Bundler;

beforeAll(async () => {
  const registry = disposables.use(await startRegistry(GREETING_PACKAGES));
  const cache = disposables.use(await temporaryFolder());
  bundler = createTestBundler({ registry: registry.url }, cache.path);
});
afterAll(() => disposables.disposeAsync());

const WORKER = `export default { fetch: () => new Response("hello") };`;
const CONFIG = JSON.stringify({ main: "index.js", compatibility_date: "2026-06-01" });

/** A workspace with one app and a library that must be built before it. */
function workspace(root: object, ownVersion: string): Record<string, Content> {
  const build = "mkdir dist && cp source.js dist/index.js";
  return {
    "package.json": JSON.stringify({ name: "root", private: true, type: "module", ...root }),
    "packages/text/package.json": JSON.stringify({
      name: "@acme/text",
      version: "1.0.0",
      type: "module",
      main: "dist/index.js",
      scripts: { build },
      dependencies: { greeting: "^1.0.0" },
    }),
    "packages/text/source.js": `export { greeting as text } from "greeting";`,
    "apps/api/package.json": JSON.stringify({
      name: "@acme/api",
      version: "1.0.0",
      type: "module",
      scripts: { build: "mkdir public && echo '<h1>built</h1>' >public/index.html" },
      dependencies: { "@acme/text": ownVersion },
    }),
    "apps/api/wrangler.json": JSON.stringify({
      main: "index.js",
      compatibility_date: "2026-06-01",
      assets: { directory: "public" },
    }),
    "apps/api/index.js": `import { text } from "@acme/text";\nexport default { fetch: () => new Response(text) };`,
  };
}

const WORKSPACES = ["apps/*", "packages/*"];

describe("a workspace", () => {
  test.each([
    ["npm", { workspaces: WORKSPACES }, "*", {}],
    [
      "pnpm",
      { packageManager: "pnpm@10.0.0" },
      "workspace:*",
      { "pnpm-workspace.yaml": "packages:\n  - apps/*\n  - packages/**\n  - '!**/test/**'\n" },
    ],
    ["Yarn 1", { packageManager: "yarn@1.22.22", workspaces: { packages: WORKSPACES } }, "1.0.0", {}],
    ["Yarn 2 and later", { packageManager: "yarn@4.18.1", workspaces: WORKSPACES }, "workspace:*", {}],
    ["Bun", { packageManager: "bun@1.3.0", workspaces: ["{apps,packages}/*"] }, "workspace:*", {}],
  ])(
    "of %s is installed at its root, and its only app is built after its libraries",
    async (_case, root, own, files) => {
      await using checkout = await createCheckout({ ...workspace(root, own), ...files });
      const { bundle, log } = await runBundler(bundler, checkout);
      expect((await readUploadForm(bundle.scriptPath)).main).toContain("hello from the registry");
      expect(await readFile(`${bundle.assets?.directory}/index.html`, "utf8")).toBe("<h1>built</h1>\n");
      expect(bundle.rootDirectory).toBe("apps/api");
      expect(log).toContain("Deploying apps/api, the only package of the workspace that can be deployed.\n");
      expect(log).toContain("> building packages/text\n");
    },
  );

  test("with several apps fails with the list of them, and builds the one that root_directory names", async () => {
    const files = {
      ...workspace({ workspaces: WORKSPACES }, "*"),
      "apps/site/package.json": `{"name": "site", "version": "1.0.0"}`,
      "apps/site/index.html": "<h1>site</h1>",
    };
    expect(await bundleFailure(bundler, files)).toMatchObject({
      kind: "user",
      message: "The repository is a workspace with 2 packages that can be deployed: apps/api, apps/site.",
      advice: expect.stringContaining("Set root_directory to one of them"),
    });
    await using checkout = await createCheckout(files);
    const { bundle, log } = await runBundler(bundler, checkout, undefined, { rootDirectory: "apps/site" });
    expect(await readFile(`${bundle.assets?.directory}/index.html`, "utf8")).toBe("<h1>site</h1>");
    expect(log).not.toMatch(/building packages|the only package/);
  });

  test("whose root is an app deploys the root", async () => {
    await using checkout = await createCheckout({
      ...workspace({ workspaces: ["apps/*"] }, "*"),
      "apps/api/package.json": `{"name": "@acme/api"}`,
      "wrangler.json": CONFIG,
      "index.js": WORKER,
    });
    expect((await runBundler(bundler, checkout)).bundle.rootDirectory).toBe(".");
  });

  test("that is a folder of the repository is installed there", async () => {
    const files = Object.entries(workspace({ workspaces: WORKSPACES }, "*"));
    await using checkout = await createCheckout({
      "package.json": `{"dependencies": {"nothing": "1.0.0"}}`,
      ...Object.fromEntries(files.map(([name, content]) => [`web/${name}`, content])),
    });
    const { bundle } = await runBundler(bundler, checkout, undefined, { rootDirectory: "web/apps/api" });
    expect((await readUploadForm(bundle.scriptPath)).main).toContain("hello from the registry");
  });
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
  const app = { "api/wrangler.json": CONFIG, "api/index.js": `import "greeting";\n${WORKER}` };

  test("without a package.json uses the packages of the folder above it", async () => {
    await using checkout = await createCheckout({
      "package.json": `{"dependencies": {"greeting": "1.0.0"}}`,
      ...app,
    });
    await runBundler(bundler, checkout, undefined, { rootDirectory: "api" });
  });

  test("outside a workspace uses its own packages", async () => {
    await using checkout = await createCheckout({
      "package.json": `{"dependencies": {"nothing": "1.0.0"}}`,
      "api/package.json": `{"dependencies": {"greeting": "1.0.0"}}`,
      ...app,
    });
    await runBundler(bundler, checkout, undefined, { rootDirectory: "api" });
  });

  test("that does not exist is a failure with the folders that do", async () => {
    const files = { "api/package.json": "{}", ...app };
    expect(await bundleFailure(bundler, files, { rootDirectory: "apps/api" })).toMatchObject({
      kind: "user",
      message: 'The root directory "apps/api" is not a folder of the repository.',
      advice: "Set root_directory to a folder of the repository, such as api (PATCH /v1/apps/{id}), and deploy again.",
    });
  });

  verifies([hazard(15), hazard(16)], "that a link leads to is refused, also one that the build creates", async () => {
    const files = { ...app, web: { link: "/etc" } };
    const message = expect.stringContaining("leads through a link. Links are not followed.");
    expect(await bundleFailure(bundler, files, { rootDirectory: "web/ssl" })).toMatchObject({ kind: "user", message });
    const build = "mv ../api ../other && ln -s other ../api";
    const replaced = { ...app, "api/index.js": WORKER, "api/package.json": JSON.stringify({ scripts: { build } }) };
    expect(await bundleFailure(bundler, replaced, { rootDirectory: "api" })).toMatchObject({ kind: "user", message });
  });
});
