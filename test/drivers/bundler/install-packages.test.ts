import { describe, expect, test } from "vitest";
import { DEFAULT_LIMITS, type WranglerBundlerOptions } from "../../../server/drivers/bundler/wrangler-bundler.ts";
import { readForm } from "../../support/builds/read-upload-form.ts";
import { createTestBundler } from "../../support/builds/create-bundler.ts";
import { bundleIn, checkoutOf, failureOf } from "../../support/builds/bundle-checkout.ts";
import { startRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const WORKER = `import { greeting } from "greeting";\nexport default { fetch: () => new Response(greeting) };`;

function manifest(fields: object = {}): string {
  return JSON.stringify({ type: "module", dependencies: { greeting: "^1.0.0" }, ...fields });
}

async function setUp(limits: WranglerBundlerOptions["limits"] = {}) {
  const stack = new AsyncDisposableStack();
  const registry = stack.use(
    await startRegistry([
      {
        name: "greeting",
        version: "1.0.0",
        files: { "index.js": `export { words as greeting } from "@scope/words";` },
        manifest: {
          type: "module",
          dependencies: { "@scope/words": "2.0.0" },
          scripts: { postinstall: "echo >index.js" },
        },
      },
      {
        name: "@scope/words",
        version: "2.0.0",
        files: { "index.js": `export const words = "hello from afar";` },
        manifest: { type: "module" },
      },
    ]),
  );
  const cache = stack.use(await temporaryFolder());
  const settings = { registry: registry.url, [`//${new URL(registry.url).host}/:_authToken`]: "npm-secret" };
  /** A bundler as a newly started service has it: its packages are those on disk. */
  const newBundler = () => createTestBundler(settings, cache.path, limits);
  return { registry, newBundler, bundler: newBundler(), [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

describe("the install of a bundler", () => {
  const pnpmLock = [
    "lockfileVersion: '9.0'",
    "importers:\n  .:\n    dependencies:\n      greeting:\n        specifier: ^1.0.0\n        version: 1.0.0",
    "packages:\n  '@scope/words@2.0.0':\n    resolution: {integrity: WORDS}\n  greeting@1.0.0:\n    resolution: {integrity: GREETING}",
    "snapshots:\n  '@scope/words@2.0.0': {}\n  greeting@1.0.0:\n    dependencies:\n      '@scope/words': 2.0.0\n",
  ].join("\n\n");

  const elsewhere = "https://registry.example";
  const npmLock = JSON.stringify({
    lockfileVersion: 3,
    packages: {
      "": { dependencies: { greeting: "^1.0.0" } },
      "node_modules/greeting": {
        version: "1.0.0",
        resolved: `${elsewhere}/greeting/-/greeting-1.0.0.tgz`,
        dependencies: { "@scope/words": "2.0.0" },
      },
      "node_modules/@scope/words": { version: "2.0.0", resolved: `${elsewhere}/npm/@scope/words/-/words-2.0.0.tgz` },
    },
  });
  const yarnLock = [
    "# yarn lockfile v1",
    `"@scope/words@2.0.0":\n  version "2.0.0"\n  resolved "${elsewhere}/@scope/words/-/words-2.0.0.tgz"`,
    `greeting@^1.0.0:\n  version "1.0.0"\n  resolved "${elsewhere}/greeting/-/greeting-1.0.0.tgz"\n  dependencies:\n    "@scope/words" "2.0.0"\n`,
  ].join("\n\n");

  test.each([
    ["npm without a lockfile", {}, {}],
    ["npm with a lockfile that names another host", { "package-lock.json": npmLock }, {}],
    ["pnpm without a lockfile", {}, { packageManager: "pnpm@9.0.0" }],
    ["pnpm with a lockfile", { "pnpm-lock.yaml": pnpmLock }, {}],
    ["Yarn 1 without a lockfile", {}, { packageManager: "yarn@1.22.0" }],
    ["Yarn 1 with a lockfile that names another host", { "yarn.lock": yarnLock }, {}],
  ])("%s", async (_, lockfile, fields) => {
    await using h = await setUp();
    const integrity = (name: string) => h.registry.integrityOf(name);
    const files = Object.entries(lockfile).map(([name, text]) => [
      name,
      text.replace("WORDS", integrity("@scope/words")).replace("GREETING", integrity("greeting")),
    ]);
    await using checkout = await checkoutOf({
      "package.json": manifest(fields),
      "index.js": WORKER,
      ...Object.fromEntries(files),
    });
    const { bundle } = await bundleIn(h.bundler, checkout);
    expect((await readForm(bundle.scriptPath)).main).toContain("hello from afar");
  });

  verifies(
    hazard(51),
    "works without the registry for packages that were installed before, also after a restart",
    async () => {
      await using h = await setUp();
      const files = { "package.json": manifest(), "index.js": WORKER };
      await using first = await checkoutOf(files);
      await bundleIn(h.bundler, first);
      await h.registry.stop();
      await using second = await checkoutOf(files);
      const { bundle } = await bundleIn(h.newBundler(), second);
      expect((await readForm(bundle.scriptPath)).main).toContain("hello from afar");
    },
  );

  verifies(hazard(51), "a registry that answers 500 is the platform's failure", async () => {
    await using h = await setUp();
    h.registry.failWith(500);
    expect(await failureOf(h.bundler, { "package.json": manifest(), "index.js": WORKER })).toMatchObject({
      kind: "platform",
      message: "The package registry did not answer for greeting",
    });
  });

  verifies(hazard(51), "a registry that cannot be reached is the platform's failure", async () => {
    await using h = await setUp();
    await h.registry.stop();
    expect(await failureOf(h.bundler, { "package.json": manifest(), "index.js": WORKER })).toMatchObject({
      kind: "platform",
      message: "The package registry did not answer for greeting",
    });
  });

  test.each([
    ["a package that does not exist", { nothing: "1.0.0" }, "The package registry does not have nothing"],
    [
      "a version that does not exist",
      { greeting: "^9.0.0" },
      "npm could not install the packages: No matching version found for greeting@^9.0.0.",
    ],
    [
      "a package from another host",
      { greeting: "github:owner/greeting" },
      "The install asked for github.com, which builds cannot reach",
    ],
  ])("%s is the user's failure", async (_, dependencies, message) => {
    await using h = await setUp();
    const failure = await failureOf(h.bundler, { "package.json": manifest({ dependencies }), "index.js": WORKER });
    expect(failure).toMatchObject({ kind: "user", message });
  });

  verifies(hazard(50), "no install script runs, of the project or of a dependency", async () => {
    await using h = await setUp();
    for (const packageManager of ["npm@11.0.0", "pnpm@10.0.0", "yarn@1.22.0"]) {
      const scripts = { postinstall: "echo >index.js", prepare: "echo >index.js" };
      await using checkout = await checkoutOf({
        "package.json": manifest({ packageManager, scripts }),
        "index.js": WORKER,
      });
      const { bundle } = await bundleIn(h.bundler, checkout);
      expect((await readForm(bundle.scriptPath)).main).toContain("hello from afar");
    }
  });

  verifies(
    [hazard(49), hazard(50)],
    "code that a project smuggles into its install reaches no host and no credentials",
    async () => {
      await using h = await setUp();
      const probe = `for (const url of ["${h.registry.url}smuggled", "http://169.254.169.254/", "http://1.1.1.1/"])
      await fetch(url).then(() => console.log("REACHED", url), () => console.log("no way to", url));
      console.log(JSON.stringify(process.env));`;
      await using checkout = await checkoutOf({
        "package.json": manifest({ packageManager: "pnpm@10.0.0" }),
        ".pnpmfile.cjs": `require("node:child_process").spawnSync("sh", ["-c", "node probe.mjs; cat ~/.npmrc; ls -A /root"], { stdio: "inherit" });`,
        "probe.mjs": probe,
        "index.js": WORKER,
      });
      const { log } = await bundleIn(h.bundler, checkout);
      expect(log).toContain("no way to http://1.1.1.1/");
      expect(log).not.toMatch(/REACHED|npm-secret/);
      expect(h.registry.requests).not.toContain("/smuggled");
    },
  );
});

describe("the steps of a bundler", () => {
  verifies(hazard(50), "what one build writes, no other build reads", async () => {
    await using h = await setUp();
    const mark = "left-by-a-build";
    const places =
      "/tmp /scratch /scratch/home /scratch/npm-cache /opt/node_modules /opt/bundler /out /var/tmp /dev/shm";
    const write = `for place in ${places}; do mkdir -p $place; echo >$place/${mark}; done 2>/dev/null; true`;
    const look = `for place in ${places}; do ls -A $place; done 2>/dev/null; true`;
    await using first = await checkoutOf({
      "package.json": JSON.stringify({ scripts: { build: write } }),
      "index.js": "export default {}",
    });
    await using second = await checkoutOf({
      "package.json": JSON.stringify({ scripts: { build: look } }),
      "index.js": "export default {}",
    });
    await bundleIn(h.bundler, first);
    expect((await bundleIn(h.bundler, second)).log).not.toContain(mark);
  });

  verifies(hazard(46), "a build that takes too long is stopped, and told so", async () => {
    await using h = await setUp({ build: { ...DEFAULT_LIMITS.build, wallTimeMs: 1000 } });
    const files = {
      "package.json": JSON.stringify({ scripts: { build: "trap '' TERM; sleep 300 & wait; sleep 300" } }),
    };
    expect(await failureOf(h.bundler, files)).toMatchObject({
      kind: "user",
      message: "The build took longer than 1 second and was stopped",
    });
  });

  verifies(hazard(51), "a build that uses too much memory is stopped, and told so", async () => {
    await using h = await setUp({ build: { ...DEFAULT_LIMITS.build, memoryMb: 200 } });
    const build = `node -e "const all = []; for (;;) all.push(Buffer.alloc(1e7, 1))"`;
    expect(await failureOf(h.bundler, { "package.json": JSON.stringify({ scripts: { build } }) })).toMatchObject({
      kind: "user",
      message: "The build used more than 200 MB of memory and was stopped",
    });
  });

  verifies(hazard(51), "a build that fills the disk is stopped, and told so", async () => {
    await using h = await setUp({ build: { ...DEFAULT_LIMITS.build, diskMb: 50 } });
    const build = "for n in 1 2 3 4 5 6 7 8; do head -c 20000000 /dev/zero >$n; done; sleep 2";
    expect(await failureOf(h.bundler, { "package.json": JSON.stringify({ scripts: { build } }) })).toMatchObject({
      kind: "user",
      message: "The build wrote more than 50 MB to disk and was stopped",
    });
  });

  verifies(hazard(47), "a reason that is no text is shown as text", async () => {
    await using h = await setUp();
    const build = String.raw`printf 'bad \033]0;title\007\377\000 thing \342\200\256txt'; exit 1`;
    const { message } = await failureOf(h.bundler, { "package.json": JSON.stringify({ scripts: { build } }) });
    expect(message).toMatch(/^The build failed with exit code 1: bad [^\p{Cc}\p{Cf}]+$/u);
  });

  verifies(hazard(49), "a build has no network at all", async () => {
    await using h = await setUp();
    const probe = `for (const url of ["${h.registry.url}", "http://127.0.0.1:3128/greeting", "http://1.1.1.1/"])
      await fetch(url).then(() => console.log("REACHED", url), () => console.log("no way to", url));`;
    await using checkout = await checkoutOf({
      "package.json": JSON.stringify({ scripts: { build: "node probe.mjs" } }),
      "probe.mjs": probe,
      "index.js": "export default {}",
    });
    const { log } = await bundleIn(h.bundler, checkout);
    expect([log.match(/no way to/g)?.length, log.includes("REACHED")]).toEqual([3, false]);
  });
});
