import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { bundleFailure, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";

const PAGE = "mkdir -p dist && echo '<h1>built</h1>' >dist/index.html && echo The page is built.";

describe("a project that names a version of its package manager", () => {
  const bundler = createTestBundler({}, tmpdir());

  test.each([
    ["pnpm, a newer one", { packageManager: "pnpm@11.2.0" }, {}, ["npm"]],
    [
      "pnpm, an older one, with settings that require it",
      { packageManager: "pnpm@9.15.4+sha512.0123456789abcdef" },
      {
        "pnpm-workspace.yaml": "managePackageManagerVersions: true\npackageManagerStrictVersion: true\n",
        ".npmrc": "manage-package-manager-versions=true\npackage-manager-strict-version=true\n",
      },
      ["yarn"],
    ],
    [
      "Yarn 1, with a path that does not exist",
      { packageManager: "yarn@1.22.19" },
      { ".yarnrc": `yarn-path ".yarn/releases/yarn-1.22.19.cjs"\n` },
      ["pnpm"],
    ],
    ["npm", { packageManager: "npm@10.0.0" }, {}, ["pnpm"]],
  ])("the build script can run it and other package managers: %s", async (_case, fields, files, others) => {
    const manager = fields.packageManager.split("@", 1)[0]!;
    const build = [manager, ...others].map((name) => `${name} run pages`).join(" && ");
    const scripts = { build, pages: PAGE };
    await using checkout = await createCheckout({ "package.json": JSON.stringify({ ...fields, scripts }), ...files });
    const { bundle, log } = await runBundler(bundler, checkout);
    expect(bundle.assets).not.toBeNull();
    expect(log.split("\n").filter((line) => line === "The page is built.")).toHaveLength(1 + others.length);
    expect(log.slice(0, log.indexOf("The page is built."))).not.toMatch(/configured to use|npm warn/);
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
    expect(message).toBe(`The build failed with exit code 1: ERR_PNPM_NO_SCRIPT  Missing script: nothing`);
  });
});
