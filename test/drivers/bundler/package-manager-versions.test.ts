import { tmpdir } from "node:os";
import { describe, expect, test } from "vitest";
import { bundleFailure, createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";
import { createRegistryBundler } from "../../support/builds/publish-project.ts";

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

  test.each([
    ["6.0", "8.15.9"],
    ["5.4", "7.33.7"],
  ])("a lockfile of pnpm in the format %s is installed with pnpm %s, which reads it", async (format, version) => {
    const program = "console.log('The old pnpm runs', process.argv[2]);";
    const [pnpm, page] = [
      { name: "pnpm", version, files: { "bin/pnpm.cjs": program }, manifest: {} },
      { name: "page", version: "1.0.0", files: { "index.js": "" }, manifest: {} },
    ];
    await using setup = await createRegistryBundler([pnpm, page]);
    await using checkout = await createCheckout({
      "package.json": JSON.stringify({ dependencies: { page: "1.0.0" } }),
      "pnpm-lock.yaml": `lockfileVersion: '${format}'\n`,
      "index.html": "<h1>page</h1>",
    });
    const { log } = await runBundler(setup.bundler, checkout);
    expect(log).toContain(`Using pnpm ${version}, from the package registry.`);
    expect(log).toContain("The old pnpm runs install");
  });

  test.each([
    ["packageManager", { packageManager: "pnpm@12.21.0" }, "12.21.0"],
    ["engines", { engines: { pnpm: ">=12 <13" } }, "12"],
  ])("pnpm 11 and later is installed in the version of the project: %s", async (_field, fields, version) => {
    const program = "console.log('The new pnpm runs', process.argv[2], process.env.pnpm_config_ignore_scripts);";
    const pnpm = { name: "pnpm", version: "12.21.0", files: { "bin/pnpm.mjs": program }, manifest: {} };
    const page = { name: "page", version: "1.0.0", files: { "index.js": "" }, manifest: {} };
    await using setup = await createRegistryBundler([pnpm, page]);
    await using checkout = await createCheckout({
      "package.json": JSON.stringify({ ...fields, dependencies: { page: "1.0.0" } }),
      "pnpm-lock.yaml": "lockfileVersion: '9.0'\n",
      "index.html": "<h1>page</h1>",
    });
    const { log } = await runBundler(setup.bundler, checkout);
    expect(log).toContain(`Using pnpm ${version}, from the package registry.`);
    expect(log).toContain("The new pnpm runs install true");
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
