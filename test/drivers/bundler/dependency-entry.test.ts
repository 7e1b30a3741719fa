import { expect, test } from "vitest";
import { TOOLCHAIN_FOLDERS } from "../../../server/composition/bundler.ts";
import {
  describeDependencies,
  type DependencyEntry,
} from "../../../server/drivers/bundler/dependencies/dependency-entry.ts";
import { DependencyStore } from "../../../server/drivers/bundler/dependencies/dependency-store.ts";
import { readProject } from "../../../server/drivers/bundler/read-project.ts";
import { DEFAULT_LIMITS } from "../../../server/drivers/bundler/wrangler-bundler.ts";
import { BubblewrapSandbox } from "../../../server/sandbox/bubblewrap.ts";
import { type Content, createCheckout } from "../../support/builds/bundle-checkout.ts";
import { greetingManifest, greetingNpmProject } from "../../support/builds/greeting-packages.ts";

type Files = Readonly<Record<string, Content>>;

const ROOT = { packageDirectory: ".", installDirectory: ".", isMember: false, buildFirst: [] };

/** The entry of a checkout with these files. Nothing is installed. */
async function describeEntry(files: Files, organizationId = "organization"): Promise<DependencyEntry | null> {
  await using checkout = await createCheckout(files);
  const context = {
    sandbox: new BubblewrapSandbox(),
    toolchain: { modulesDirectory: TOOLCHAIN_FOLDERS.modules, compileCacheDirectory: null },
    limits: DEFAULT_LIMITS,
    request: { ...checkout, organizationId, onOutput: () => undefined, signal: new AbortController().signal },
    env: {},
    egress: null,
    dependencies: new DependencyStore("/nonexistent"),
    databases: null,
    scratchDirectory: "/nonexistent",
  };
  const entries = await describeDependencies(context, await readProject(checkout.sourceDirectory, ROOT));
  return entries?.installed ?? null;
}

test("a change of the source that an install does not read keeps the key", async () => {
  const first = await describeEntry({ ...greetingNpmProject(), "patches/a.patch": "-a" });
  const second = await describeEntry({
    ...greetingNpmProject(),
    "patches/a.patch": "-a",
    "src/a.ts": "",
    "index.js": "2",
  });
  expect(second).toEqual(first);
  expect(first?.paths).toEqual(["node_modules", "package-lock.json"]);
});

test.each<[string, Files]>([
  ["the manifest", greetingNpmProject({ overrides: {} })],
  ["the lockfile", { ...greetingNpmProject(), "package-lock.json": `{"lockfileVersion":3}` }],
  [
    "the package manager",
    {
      ...greetingNpmProject(),
      "pnpm-lock.yaml": "",
      "package.json": greetingManifest({ packageManager: "pnpm@10.0.0" }),
    },
  ],
  ["a setting", { ...greetingNpmProject(), ".npmrc": "legacy-peer-deps=true" }],
  ["a package of a workspace", { ...greetingNpmProject(), "packages/a/package.json": "{}" }],
  ["a patch", { ...greetingNpmProject(), ".yarn/patches/a.patch": "-b" }],
  ["a link", { ...greetingNpmProject(), "packages/a": { link: "../elsewhere" } }],
])("a change of %s changes the key", async (_name, files) => {
  const changed = await describeEntry(files);
  expect(changed).not.toBeNull();
  expect(changed?.key).not.toBe((await describeEntry(greetingNpmProject()))?.key);
});

test("two organizations have different keys", async () => {
  const [first, second] = [
    await describeEntry(greetingNpmProject()),
    await describeEntry(greetingNpmProject(), "other"),
  ];
  expect(first?.key).not.toBe(second?.key);
});

test.each<[string, Files]>([
  ["with code that an install runs", { ".pnpmfile.cjs": "" }],
  ["with a setting that names such code", { ".npmrc": "global-pnpmfile=hook.cjs" }],
  ["with installed packages in the repository", { "sub/node_modules/a/index.js": "" }],
  ["with a workspace that has a program", { "packages/a/package.json": `{"bin": "a.js"}` }],
  ["with a dependency on a folder", { "packages/a/package.json": `{"dependencies": {"b": "file:../b"}}` }],
  ["with a lockfile that names a folder", { "package-lock.json": `{"packages": {"b": {"resolved": "file:b"}}}` }],
  ["with an invalid manifest", { "fixtures/package.json": "{" }],
  ["with too many lockfiles", { "a/yarn.lock": "x".repeat(33 * 1024 * 1024) }],
])("a project %s stores nothing", async (_case, files) => {
  expect(await describeEntry({ ...greetingNpmProject(), ...files })).toBeNull();
});

test("a project without a lockfile stores nothing", async () => {
  expect(await describeEntry({ "package.json": greetingManifest() })).toBeNull();
});
