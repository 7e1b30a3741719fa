import { appendFile, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DependencyStore } from "../../../server/drivers/bundler/dependencies/dependency-store.ts";
import { storeDependencies } from "../../../server/drivers/bundler/dependencies/reuse-dependencies.ts";
import { createTestMirror } from "../../support/builds/create-bundler.ts";
import { createCheckout, type Content } from "../../support/builds/bundle-checkout.ts";
import {
  greetingManifest,
  greetingNpmProject,
  GREETING_PACKAGES,
  WORDS,
} from "../../support/builds/greeting-packages.ts";
import { buildContext, installCheckout, readImported } from "../../support/builds/install-checkout.ts";
import { startRegistry, type TestRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const REUSED = "Dependencies are unchanged; using those of an earlier build.\n";

type Files = Readonly<Record<string, Content>>;

let registry: TestRegistry;
let root: string;
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  registry = opened.use(await startRegistry(GREETING_PACKAGES));
  root = opened.use(await temporaryFolder()).path;
});
afterAll(() => opened.disposeAsync());

/** An empty store. */
async function openStore(): Promise<{ dependencies: DependencyStore; folder: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  const dependencies = new DependencyStore(folder.path);
  const close = async () => {
    await dependencies.close();
    await folder[Symbol.asyncDispose]();
  };
  return { dependencies, folder: folder.path, [Symbol.asyncDispose]: close };
}

test("a build that is canceled while it stores its dependencies leaves nothing", async () => {
  await using store = await openStore();
  await using checkout = await createCheckout({ "node_modules/words/index.js": "" });
  await using scratch = await temporaryFolder();
  const request = { ...checkout, onOutput: () => undefined, signal: AbortSignal.abort(new Error("canceled")) };
  const entry = { organizationId: "acme", key: "lockfile", paths: ["node_modules"] };
  await expect(
    storeDependencies(buildContext(request, scratch.path), store.dependencies, entry, {
      packages: new Set(),
      withScripts: new Set(),
    }),
  ).rejects.toThrow("canceled");
  expect([await readdir(path.join(store.folder, ".incoming")), await store.dependencies.list()]).toEqual([[], []]);
});

/** Installs a checkout of these files, and returns the log and the imported module. */
async function install(dependencies: DependencyStore, organizationId: string, files: Files) {
  await using checkout = await createCheckout(files);
  const packages = createTestMirror({ registry: registry.url }, path.join(root, "packages"));
  const log = await installCheckout(packages, checkout, { dependencies, organizationId });
  await dependencies.close();
  const imported = await readImported(checkout, "greeting", "@scope/words").catch(() => null);
  return { log, imported };
}

function pgreetingNpmProject(): Files {
  const integrity = (name: string) => `{integrity: ${registry.integrityOf(name)}}`;
  return {
    "package.json": greetingManifest(),
    "pnpm-lock.yaml": [
      "lockfileVersion: '9.0'",
      "importers:\n  .:\n    dependencies:\n      greeting:\n        specifier: ^1.0.0\n        version: 1.0.0",
      `packages:\n  '@scope/words@2.0.0':\n    resolution: ${integrity("@scope/words")}\n  greeting@1.0.0:\n    resolution: ${integrity("greeting")}`,
      "snapshots:\n  '@scope/words@2.0.0': {}\n  greeting@1.0.0:\n    dependencies:\n      '@scope/words': 2.0.0\n",
    ].join("\n\n"),
    "index.js": "",
  };
}

function yarnProject(): Files {
  const resolved = (name: string, file: string) => `resolved "https://registry.example/${name}/-/${file}.tgz"`;
  return {
    "package.json": greetingManifest(),
    "yarn.lock": [
      "# yarn lockfile v1",
      `"@scope/words@2.0.0":\n  version "2.0.0"\n  ${resolved("@scope/words", "words-2.0.0")}`,
      `greeting@^1.0.0:\n  version "1.0.0"\n  ${resolved("greeting", "greeting-1.0.0")}\n  dependencies:\n    "@scope/words" "2.0.0"\n`,
    ].join("\n\n"),
    "index.js": "",
  };
}

describe("stored dependencies", () => {
  test.each([
    ["npm", greetingNpmProject],
    ["pnpm", pgreetingNpmProject],
    ["Yarn 1", yarnProject],
  ])("a second build with the same lockfile of %s installs nothing", async (_name, project) => {
    await using store = await openStore();
    const first = await install(store.dependencies, "organization", project());
    expect(first).toMatchObject({ imported: WORDS, log: expect.not.stringContaining(REUSED) });
    const second = await install(store.dependencies, "organization", { ...project(), "index.js": "// changed" });
    expect(second).toEqual({ log: REUSED, imported: WORDS });
  });

  test("another organization with the same lockfile installs its own", async () => {
    await using store = await openStore();
    const { dependencies } = store;
    await install(dependencies, "organization", greetingNpmProject());
    const { log, imported } = await install(dependencies, "other-organization", greetingNpmProject());
    expect([log.includes(REUSED), imported]).toEqual([false, WORDS]);
    expect((await dependencies.list()).toSorted()).toEqual(["organization", "other-organization"]);
  });

  test("a build cannot change what is stored, and a damaged entry is replaced", async () => {
    await using store = await openStore();
    const { dependencies, folder } = store;
    await install(dependencies, "organization", greetingNpmProject());
    {
      await using checkout = await createCheckout(greetingNpmProject());
      const packages = createTestMirror({ registry: registry.url }, path.join(root, "packages"));
      await installCheckout(packages, checkout, { dependencies, organizationId: "organization" });
      await appendFile(path.join(checkout.sourceDirectory, "node_modules/@scope/words/index.js"), "poisoned");
    }
    expect(await install(dependencies, "organization", greetingNpmProject())).toMatchObject({
      log: REUSED,
      imported: WORDS,
    });
    const [key = ""] = await readdir(path.join(folder, "organization"));
    const archive = path.join(folder, "organization", key, "source.tar");
    // The second one is cut off at the end of a file or a folder: an entry of the archive takes a multiple of 512 bytes.
    for (const length of [3000, 512]) {
      await writeFile(archive, (await readFile(archive)).subarray(0, length));
      const repaired = await install(dependencies, "organization", greetingNpmProject());
      expect([repaired.log.includes(REUSED), repaired.imported]).toEqual([false, WORDS]);
      expect(await install(dependencies, "organization", greetingNpmProject())).toMatchObject({
        log: REUSED,
        imported: WORDS,
      });
    }
  });
});
