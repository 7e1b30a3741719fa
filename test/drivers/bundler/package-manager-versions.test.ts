import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { bundleFailure, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";

const PAGE = "mkdir dist && echo '<h1>built</h1>' >dist/index.html";

describe("a project that names a version of its package manager", () => {
  const bundler = createTestBundler({}, tmpdir());

  test.each([
    ["pnpm, an older one", { packageManager: "pnpm@9.15.4+sha512.0123456789abcdef" }, {}],
    ["pnpm, a newer one", { packageManager: "pnpm@11.2.0" }, {}],
    [
      "pnpm, with settings that require it",
      { packageManager: "pnpm@9.15.4" },
      {
        "pnpm-workspace.yaml": "managePackageManagerVersions: true\npackageManagerStrictVersion: true\n",
        ".npmrc": "manage-package-manager-versions=true\npackage-manager-strict-version=true\n",
      },
    ],
    [
      "Yarn 1, with a path that does not exist",
      { packageManager: "yarn@1.22.19" },
      { ".yarnrc": `yarn-path ".yarn/releases/yarn-1.22.19.cjs"\n` },
    ],
  ])("the build script runs: %s", async (_case, fields, files) => {
    const manager = fields.packageManager.split("@", 1)[0];
    const scripts = { build: `${manager} run pages`, pages: PAGE };
    await using checkout = await createCheckout({ "package.json": JSON.stringify({ ...fields, scripts }), ...files });
    const { bundle, log } = await runBundler(bundler, checkout);
    expect(bundle.assets).not.toBeNull();
    expect(log).not.toMatch(/configured to use|npm warn/);
  });

  test.each([
    ["pnpm", "yarn@1.22.19"],
    ["pnpm", "npm@10.0.0"],
    ["yarn", "pnpm@9.15.4"],
    ["npm", "pnpm@9.15.4"],
  ])("its build script can run %s although packageManager is %s", async (other, packageManager) => {
    const scripts = { build: `${other} run pages`, pages: PAGE };
    await using checkout = await createCheckout({ "package.json": JSON.stringify({ packageManager, scripts }) });
    const { bundle } = await runBundler(bundler, checkout);
    expect(bundle.assets).not.toBeNull();
  });

  test("devEngines of package.json selects the package manager too", async () => {
    const devEngines = { packageManager: { name: "pnpm", version: "^9.0.0", onFail: "error" } };
    const scripts = { build: "pnpm run pages", pages: PAGE };
    await using checkout = await createCheckout({ "package.json": JSON.stringify({ devEngines, scripts }) });
    const { bundle } = await runBundler(bundler, checkout);
    expect(bundle.assets).not.toBeNull();
  });

  test("the failure quotes pnpm's reason, and not the hint below it", async () => {
    const scripts = { build: "pnpm run nothing" };
    const files = { "package.json": JSON.stringify({ packageManager: "pnpm@9.15.4", scripts }) };
    const { message } = await bundleFailure(bundler, files);
    expect(message).toBe(`The build failed with exit code 1: Command "nothing" not found.`);
  });
});
