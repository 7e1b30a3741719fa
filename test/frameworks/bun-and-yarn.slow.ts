import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { Bundler } from "../../domain/ports/bundler.ts";
import { bundleFailure, createCheckout, runBundler } from "../support/builds/bundle-checkout.ts";
import { createTestBundler } from "../support/builds/create-bundler.ts";
import { GREETING_PACKAGES, GREETING_WORKER } from "../support/builds/greeting-packages.ts";
import { readUploadForm } from "../support/builds/read-upload-form.ts";
import { startRegistry } from "../support/builds/test-registry.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { scriptPathOf } from "../support/builds/script-path.ts";

const OTHER_REGISTRY = "https://registry.example";

/** Starts a registry with two packages, and with a stand-in for an earlier version of Yarn. */
async function setUp() {
  const stack = new AsyncDisposableStack();
  const registry = stack.use(
    await startRegistry([
      ...GREETING_PACKAGES,
      {
        name: "@yarnpkg/cli-dist",
        version: "3.8.7",
        files: { "bin/yarn.js": `console.log("This is Yarn 3.8.7:", process.argv.slice(2).join(" "));` },
        manifest: { bin: { yarn: "bin/yarn.js" } },
      },
    ]),
  );
  const cache = stack.use(await temporaryFolder());
  const integrity = (name: string) => registry.integrityOf(name);
  const { disposeAsync } = stack;
  return {
    registry,
    integrity,
    bundler: createTestBundler({ registry: registry.url }, cache.path),
    [Symbol.asyncDispose]: disposeAsync.bind(stack),
  };
}

function manifest(fields: object = {}): string {
  return JSON.stringify({ name: "app", type: "module", dependencies: { greeting: "^1.0.0" }, ...fields });
}

/** Returns the lockfile that an install without a lockfile writes. */
async function writeYarnLock(bundler: Bundler): Promise<string> {
  await using checkout = await createCheckout({
    "package.json": manifest({ packageManager: "yarn@4.18.1" }),
    "index.js": GREETING_WORKER,
  });
  await runBundler(bundler, checkout);
  return readFile(path.join(checkout.sourceDirectory, "yarn.lock"), "utf8");
}

/** The lockfile in the form that Bun writes: each package on a line of its own. */
function bunLock(integrity: (name: string) => string, host = ""): string {
  const url = (file: string) => (host === "" ? "" : `${host}/${file}.tgz`);
  const dependent = `{ "dependencies": { "@scope/words": "2.0.0" } }`;
  return `{
  "lockfileVersion": 1,
  "workspaces": {
    "": {
      "name": "app",
      "dependencies": {
        "greeting": "^1.0.0",
      },
    },
  },
  "packages": {
    "@scope/words": ["@scope/words@2.0.0", "${url("@scope/words/-/words-2.0.0")}", {}, "${integrity("@scope/words")}"],

    "greeting": ["greeting@1.0.0", "${url("greeting/-/greeting-1.0.0")}", ${dependent}, "${integrity("greeting")}"],
  }
}
`;
}

describe("a project of Yarn 2 and later", () => {
  test.each([
    ["with Plug'n'Play", {}, ""],
    [
      "with node_modules, and a lockfile that names another host",
      { ".yarnrc.yml": `nodeLinker: node-modules\nyarnPath: .yarn/releases/yarn-4.18.1.cjs\n` },
      "::__archiveUrl=https%3A%2F%2Fregistry.example%2Ffile.tgz",
    ],
  ])("is installed, built and bundled: %s", async (_case, files, archive) => {
    await using h = await setUp();
    const lockfile = await writeYarnLock(h.bundler);
    const scripts = { build: "yarn node build.js && yarn --version", postinstall: "echo >index.js" };
    await using checkout = await createCheckout({
      "package.json": manifest({ scripts }),
      "yarn.lock": lockfile.replaceAll(/(resolution: ".*@npm:[^"]+)/g, `$1${archive}`),
      "build.js": `import { greeting } from "greeting";\nconsole.log("The build says", greeting);`,
      "index.js": GREETING_WORKER,
      ...files,
    });
    const { bundle, log } = await runBundler(h.bundler, checkout);
    expect((await readUploadForm(scriptPathOf(bundle))).main).toContain("hello from the registry");
    expect(log).toContain("Using Yarn 4.18.1.\n");
    expect(log).toContain("The build says hello from the registry");
    expect(log).toContain("\n4.18.1\n");
    const usesModules = ".yarnrc.yml" in files;
    expect((await readdir(checkout.sourceDirectory)).includes("node_modules")).toBe(usesModules);
  });

  test("a lockfile that does not match package.json is a warning that says so", async () => {
    await using h = await setUp();
    await using checkout = await createCheckout({
      "package.json": manifest({ dependencies: { greeting: "^1.0.0", "@scope/words": "*" } }),
      "yarn.lock": await writeYarnLock(h.bundler),
      "index.js": GREETING_WORKER,
    });
    const { bundle } = await runBundler(h.bundler, checkout);
    expect(bundle.warnings).toEqual([expect.stringMatching(/^The lockfile does not match .* Run `yarn install`/)]);
  });

  test("a package that the registry does not have is a failure that names it", async () => {
    await using h = await setUp();
    const failure = await bundleFailure(h.bundler, {
      "package.json": manifest({ packageManager: "yarn@4.18.1", dependencies: { nothing: "1.0.0" } }),
      "index.js": GREETING_WORKER,
    });
    expect(failure).toMatchObject({
      kind: "user",
      message: "The package registry does not have the package nothing.",
    });
  });

  test.each([
    ["packageManager names it", { packageManager: "yarn@3.8.7+sha224.0123" }, {}],
    ["yarnPath names it", {}, { ".yarnrc.yml": "yarnPath: .yarn/releases/yarn-3.8.7.cjs\n" }],
    ["the format of the lockfile needs it", {}, { "yarn.lock": "__metadata:\n  version: 6\n" }],
  ])("the version is installed from the registry when %s", async (_case, fields, files) => {
    await using h = await setUp();
    await using checkout = await createCheckout({
      "package.json": manifest({ ...fields, scripts: { build: "yarn run something" } }),
      "index.js": "export default {};",
      ...files,
    });
    const { log } = await runBundler(h.bundler, checkout);
    expect(log).toMatch(/^Using Yarn 3\.8\.7, from the package registry\.\nThis is Yarn 3\.8\.7: install/);
    expect(log).toContain("This is Yarn 3.8.7: run build\n");
  });

  test("a version that the registry does not have is replaced, and the log says so", async () => {
    await using h = await setUp();
    await using checkout = await createCheckout({
      "package.json": manifest({ packageManager: "yarn@4.0.99" }),
      "index.js": GREETING_WORKER,
    });
    const { log } = await runBundler(h.bundler, checkout);
    expect(log).toContain("Yarn 4.0.99 could not be installed from the package registry. Using Yarn 4.18.1.\n");
  });
});

describe("a project of Bun", () => {
  test.each([
    ["without a lockfile", { packageManager: "bun@1.4.5" }, () => ({})],
    ["with a lockfile", {}, (integrity: (name: string) => string) => ({ "bun.lock": bunLock(integrity) })],
    [
      "with a lockfile that names another host",
      {},
      (integrity: (name: string) => string) => ({ "bun.lock": bunLock(integrity, OTHER_REGISTRY) }),
    ],
  ])("is installed, built and bundled: %s", async (_case, fields, files) => {
    await using h = await setUp();
    const scripts = { build: "bun built.js && bunx --version", postinstall: "echo >index.js" };
    await using checkout = await createCheckout({
      "package.json": manifest({ ...fields, scripts }),
      "built.js": `import { greeting } from "greeting";\nconsole.log("The build says", greeting);`,
      "index.js": GREETING_WORKER,
      ...files(h.integrity),
    });
    const { bundle, log } = await runBundler(h.bundler, checkout);
    expect((await readUploadForm(scriptPathOf(bundle))).main).toContain("hello from the registry");
    expect(log).toContain("Using Bun 1.4.5.\n");
    expect(log).toContain("The build says hello from the registry");
    expect(await readFile(path.join(checkout.sourceDirectory, "index.js"), "utf8")).toBe(GREETING_WORKER);
  });

  test("a binary lockfile is read", async () => {
    await using h = await setUp();
    const files = { "package.json": manifest({ packageManager: "bun@1.4.5" }), "index.js": GREETING_WORKER };
    await using first = await createCheckout({ ...files, "bunfig.toml": "[install]\nsaveTextLockfile = false\n" });
    await runBundler(h.bundler, first);
    const lockfile = await readFile(path.join(first.sourceDirectory, "bun.lockb"));
    await using second = await createCheckout({ ...files, "bun.lockb": lockfile });
    const { bundle } = await runBundler(h.bundler, second);
    expect((await readUploadForm(scriptPathOf(bundle))).main).toContain("hello from the registry");
    expect(await readdir(second.sourceDirectory)).toContain("bun.lock");
    const more = manifest({
      packageManager: "bun@1.4.5",
      dependencies: { greeting: "1.0.0", "@yarnpkg/cli-dist": "3.8.7" },
    });
    await using outdated = await createCheckout({ ...files, "package.json": more, "bun.lockb": lockfile });
    expect((await runBundler(h.bundler, outdated)).bundle.warnings).toEqual([
      expect.stringContaining("bun.lockb does not match package.json"),
    ]);
    const failure = await bundleFailure(h.bundler, { ...files, "bun.lockb": "no lockfile" });
    expect(failure).toMatchObject({ kind: "user", message: expect.stringMatching(/^bun\.lockb could not be read: /) });
  });

  test("a lockfile that does not match package.json is a warning that says so", async () => {
    await using h = await setUp();
    await using checkout = await createCheckout({
      "package.json": manifest({ dependencies: { greeting: "^1.0.0", "@yarnpkg/cli-dist": "3.8.7" } }),
      "bun.lock": bunLock(h.integrity),
      "index.js": GREETING_WORKER,
    });
    const { bundle } = await runBundler(h.bundler, checkout);
    expect(bundle.warnings).toEqual([expect.stringMatching(/^The lockfile does not match .* Run `bun install`/)]);
  });

  test("the registry that does not respond is a platform failure", async () => {
    await using h = await setUp();
    h.registry.failWith(500);
    const failure = await bundleFailure(h.bundler, {
      "package.json": manifest({ packageManager: "bun@1.4.5" }),
      "index.js": GREETING_WORKER,
    });
    expect(failure).toMatchObject({
      kind: "platform",
      message: "The package registry did not respond to the request for greeting.",
    });
  });

  test("scripts of other projects can run it too", async () => {
    await using h = await setUp();
    await using checkout = await createCheckout({
      "package.json": JSON.stringify({ scripts: { build: "bun run pages", pages: "bun build.ts" } }),
      "build.ts": `await Bun.write("dist/index.html", "<h1>built</h1>");`,
    });
    const { bundle } = await runBundler(h.bundler, checkout);
    expect(bundle.assets).not.toBeNull();
  });
});
