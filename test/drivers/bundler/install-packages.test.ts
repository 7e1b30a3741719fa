import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { GREETING_WORKER, WORDS } from "../../support/builds/greeting-packages.ts";
import { readUploadForm } from "../../support/builds/read-upload-form.ts";
import { runBundler, createCheckout, bundleFailure } from "../../support/builds/bundle-checkout.ts";
import { installCheckout, installWithWarnings, readImported } from "../../support/builds/install-checkout.ts";
import { hazard, verifies } from "../../support/verifies.ts";
import { scriptPathOf } from "../../support/builds/script-path.ts";
import { manifest, openInstallRegistry } from "../../support/builds/install-registry.ts";

describe("the install step", () => {
  const pnpmLock = [
    "lockfileVersion: '9.0'",
    "importers:\n  .:\n    dependencies:\n      greeting:\n        specifier: ^1.0.0\n        version: 1.0.0",
    "packages:\n  '@scope/words@2.0.0':\n    resolution: {integrity: WORDS}\n  greeting@1.0.0:\n    resolution: {integrity: GREETING, tarball: https://registry.example/greeting/-/greeting-1.0.0.tgz}",
    "snapshots:\n  '@scope/words@2.0.0': {}\n  greeting@1.0.0:\n    dependencies:\n      '@scope/words': 2.0.0\n",
  ].join("\n\n");

  const otherRegistry = "https://registry.example";
  const npmLock = JSON.stringify({
    lockfileVersion: 3,
    packages: {
      "": { dependencies: { greeting: "^1.0.0" } },
      "node_modules/greeting": {
        version: "1.0.0",
        resolved: `${otherRegistry}/greeting/-/greeting-1.0.0.tgz`,
        dependencies: { "@scope/words": "2.0.0" },
      },
      "node_modules/@scope/words": {
        version: "2.0.0",
        resolved: `${otherRegistry}/npm/@scope/words/-/words-2.0.0.tgz`,
      },
    },
  });
  const yarnLock = [
    "# yarn lockfile v1",
    `"@scope/words@2.0.0":\n  version "2.0.0"\n  resolved "${otherRegistry}/@scope/words/-/words-2.0.0.tgz"`,
    `greeting@^1.0.0:\n  version "1.0.0"\n  resolved "${otherRegistry}/greeting/-/greeting-1.0.0.tgz"\n  dependencies:\n    "@scope/words" "2.0.0"\n`,
  ].join("\n\n");

  test.each([
    ["npm without a lockfile", {}, {}],
    ["npm with a lockfile that names another host", { "package-lock.json": npmLock }, {}],
    ["pnpm without a lockfile", {}, { packageManager: "pnpm@9.0.0" }],
    ["pnpm with a lockfile that names another host", { "pnpm-lock.yaml": pnpmLock }, {}],
    ["Yarn 1 without a lockfile", {}, { packageManager: "yarn@1.22.0" }],
    ["Yarn 1 with a lockfile that names another host", { "yarn.lock": yarnLock }, {}],
  ])("packages are installed with %s", async (_case, lockfile, fields) => {
    await using h = await openInstallRegistry();
    const integrity = (name: string) => h.registry.integrityOf(name);
    const files = Object.entries(lockfile).map(([name, text]) => [
      name,
      text.replace("WORDS", integrity("@scope/words")).replace("GREETING", integrity("greeting")),
    ]);
    await using checkout = await createCheckout({
      "package.json": manifest(fields),
      "index.js": GREETING_WORKER,
      ...Object.fromEntries(files),
    });
    await installCheckout(h.packages, checkout);
    expect(await readImported(checkout, "greeting", "@scope/words")).toBe(WORDS);
  });

  test("the log of pnpm says once how many packages it installed, and not how far it is", async () => {
    await using h = await openInstallRegistry();
    await using checkout = await createCheckout({
      "package.json": manifest({ packageManager: "pnpm@10.0.0" }),
      "index.js": GREETING_WORKER,
    });
    const { log } = await runBundler(h.bundler, checkout);
    expect(log.split("\n").filter((line) => line.includes("Progress: "))).toEqual([
      expect.stringMatching(/^Progress: resolved 2, .*, done$/),
    ]);
    expect(log).toContain("Done in ");
  });

  test("a lockfile of npm without an optional package that the registry does not have is accepted", async () => {
    await using h = await openInstallRegistry();
    await using checkout = await createCheckout({
      "package.json": manifest({ dependencies: { portable: "^1.0.0" } }),
      "package-lock.json": JSON.stringify({
        lockfileVersion: 3,
        packages: {
          "": { dependencies: { portable: "^1.0.0" } },
          "node_modules/portable": { version: "1.0.0", optionalDependencies: { unpublished: "1.0.0" } },
        },
      }),
      "index.js": "export default {};",
    });
    await runBundler(h.bundler, checkout);
    const installed = await readFile(path.join(checkout.sourceDirectory, "node_modules/portable/package.json"), "utf8");
    expect(JSON.parse(installed)).toMatchObject({ name: "portable" });
  });

  test("a bundle contains the installed packages", async () => {
    await using h = await openInstallRegistry();
    await using checkout = await createCheckout({ "package.json": manifest(), "index.js": GREETING_WORKER });
    const { bundle } = await runBundler(h.bundler, checkout);
    expect((await readUploadForm(scriptPathOf(bundle))).main).toContain("hello from the registry");
  });

  test.each([
    ["Yarn 4", "Using Yarn 4.18.1.\n", "yarn@4.18.1", "yarn node build.js"],
    ["Bun", "Using Bun 1.4.5.\n", "bun@1.4.5", "bun build.js"],
  ])("%s installs the packages and runs the build script", async (_case, line, packageManager, build) => {
    await using h = await openInstallRegistry();
    await using checkout = await createCheckout({
      "package.json": manifest({ packageManager, scripts: { build } }),
      "build.js": `import { greeting } from "greeting";\nconsole.log("The build says", greeting);`,
      "index.js": GREETING_WORKER,
    });
    const { bundle, log } = await runBundler(h.bundler, checkout);
    expect(log).toContain(line);
    expect(log).toContain("The build says hello from the registry");
    expect((await readUploadForm(scriptPathOf(bundle))).main).toContain("hello from the registry");
  });

  verifies(hazard(51), "cached packages are installed while the registry is down, also after a restart", async () => {
    await using h = await openInstallRegistry();
    const files = { "package.json": manifest(), "index.js": GREETING_WORKER };
    await using first = await createCheckout(files);
    await installCheckout(h.packages, first);
    await h.registry.stop();
    await using second = await createCheckout(files);
    await installCheckout(h.restartedPackages(), second);
    expect(await readImported(second, "greeting", "@scope/words")).toBe(WORDS);
  });

  verifies(hazard(51), "a registry that responds with 500 is a platform failure", async () => {
    await using h = await openInstallRegistry();
    h.registry.failWith(500);
    expect(await bundleFailure(h.bundler, { "package.json": manifest(), "index.js": GREETING_WORKER })).toMatchObject({
      kind: "platform",
      message: "The package registry did not respond to the request for greeting.",
    });
  });

  verifies(hazard(51), "a registry that cannot be reached is a platform failure", async () => {
    await using h = await openInstallRegistry();
    await h.registry.stop();
    expect(await bundleFailure(h.bundler, { "package.json": manifest(), "index.js": GREETING_WORKER })).toMatchObject({
      kind: "platform",
      message: "The package registry did not respond to the request for greeting.",
    });
  });

  test.each([
    ["a package that does not exist", { nothing: "1.0.0" }, "The package registry does not have the package nothing."],
    [
      "a version that does not exist",
      { greeting: "^9.0.0" },
      "The package registry has no version of greeting that matches ^9.0.0.",
    ],
    [
      "a peer dependency on another version",
      { greeting: "1.0.0", plugin: "1.0.0" },
      "plugin@1.0.0 requires greeting@^2.0.0, but the project has greeting@1.0.0.",
    ],
    [
      "a package from another host",
      { greeting: "github:owner/greeting" },
      "greeting could not be fetched from https://github.com/owner/greeting.git/info/refs?service=git-upload-pack: github.com has no public address.",
    ],
  ])("%s is a user failure", async (_case, dependencies, message) => {
    await using h = await openInstallRegistry();
    const failure = await bundleFailure(h.bundler, {
      "package.json": manifest({ dependencies }),
      "index.js": GREETING_WORKER,
    });
    expect(failure).toMatchObject({ kind: "user", message });
  });

  test.each([
    ["package-lock.json", npmLock, "npm install"],
    ["pnpm-lock.yaml", pnpmLock, "pnpm install"],
    ["yarn.lock", yarnLock, "yarn install"],
  ])("an outdated %s is a warning, and the packages are installed", async (name, lockfile, command) => {
    await using h = await openInstallRegistry();
    const integrity = (each: string) => h.registry.integrityOf(each);
    await using checkout = await createCheckout({
      "package.json": manifest({ dependencies: { greeting: "^1.0.0", "@scope/words": "*", host: "1.0.0" } }),
      [name]: lockfile.replace("WORDS", integrity("@scope/words")).replace("GREETING", integrity("greeting")),
      "index.js": GREETING_WORKER,
    });
    const { warnings } = await installWithWarnings(h.packages, checkout);
    expect(warnings).toEqual([expect.stringMatching(/^The lockfile does not match package.json/)]);
    expect(warnings[0]).toContain(`Run \`${command}\` and commit the lockfile.`);
    expect(await readImported(checkout, "greeting", "@scope/words")).toBe(WORDS);
    expect(await readFile(path.join(checkout.sourceDirectory, "node_modules/host/package.json"), "utf8")).toContain(
      "1.0.0",
    );
  });
});
