import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCheckout } from "../../support/builds/bundle-checkout.ts";
import { createTestBundler, createTestMirror } from "../../support/builds/create-bundler.ts";
import { GREETING, GREETING_PACKAGES } from "../../support/builds/greeting-packages.ts";
import { installCheckout, readImported } from "../../support/builds/install-checkout.ts";
import { startRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

let registry: Awaited<ReturnType<typeof startRegistry>>;
let cache: Awaited<ReturnType<typeof temporaryFolder>>;

beforeAll(async () => {
  registry = await startRegistry(GREETING_PACKAGES);
  cache = await temporaryFolder();
});

afterAll(async () => {
  await registry[Symbol.asyncDispose]();
  await cache[Symbol.asyncDispose]();
});

const LOCKFILES: Record<string, [name: string, content: string]> = {
  npm: ["package-lock.json", JSON.stringify({ name: "app", lockfileVersion: 3, packages: { "": { name: "app" } } })],
  pnpm: ["pnpm-lock.yaml", "lockfileVersion: '9.0'\n\nimporters:\n\n  .: {}\n"],
  "Yarn 1": ["yarn.lock", "# yarn lockfile v1\n"],
  Bun: [
    "bun.lock",
    '{\n  "lockfileVersion": 1,\n  "workspaces": {\n    "": {\n      "name": "app",\n    },\n  },\n}\n',
  ],
};

/** A project, and functions that add packages to it and install it. */
async function given(files: Record<string, string> = {}) {
  const settings = { registry: registry.url };
  const checkout = await createCheckout({
    "package.json": '{"name": "app", "type": "module"}',
    "index.js": "",
    ...files,
  });
  const bundler = createTestBundler(settings, cache.path);
  const signal = new AbortController().signal;
  return {
    checkout,
    add: (name: string, version?: string, isDevelopment = false) =>
      bundler.addDependency({ ...checkout, signal, onOutput: () => {} }, { name, version, isDevelopment }),
    install: () => installCheckout(createTestMirror(settings, cache.path), checkout),
    read: (file: string) => readFile(path.join(checkout.sourceDirectory, file), "utf8"),
    [Symbol.asyncDispose]: () => checkout[Symbol.asyncDispose](),
  };
}

test.each(Object.entries(LOCKFILES))(
  "%s adds a package to package.json and the lockfile, with which the project can be installed",
  async (_manager, [lockfile, content]) => {
    await using project = await given({ [lockfile]: content });
    await project.add("greeting", "^1.0.0");
    expect(JSON.parse(await project.read("package.json"))).toMatchObject({ dependencies: { greeting: "^1.0.0" } });
    const locked = await project.read(lockfile);
    expect([locked.includes("@scope/words"), locked.includes("127.0.0.1")]).toEqual([true, false]);
    expect((await readdir(project.checkout.sourceDirectory)).toSorted()).toEqual(
      ["index.js", lockfile, "package.json"].toSorted(),
    );
    await project.install();
    expect(await readImported(project.checkout, "greeting")).toBe(GREETING);
  },
);

test("a project without a lockfile gets none, and a package for development is listed as one", async () => {
  await using project = await given();
  await project.add("greeting", undefined, true);
  expect(JSON.parse(await project.read("package.json"))).toMatchObject({ devDependencies: { greeting: "^1.0.0" } });
  expect((await readdir(project.checkout.sourceDirectory)).toSorted()).toEqual(["index.js", "package.json"]);
});

test.each([
  ["https://evil.example/a.tgz", undefined],
  ["../a", undefined],
  ["greeting --save-exact", undefined],
  ["-g", undefined],
  ["Greeting", undefined],
  ["greeting", "https://evil.example/a.tgz"],
  ["greeting", "file:../a"],
  ["greeting", "npm:other@1.0.0"],
  ["greeting", "1.0.0 || 2.0.0"],
])("%s with the version %s is not valid, and changes nothing", async (name, version) => {
  await using project = await given();
  await expect(project.add(name, version)).rejects.toMatchObject({
    kind: "user",
    message: expect.stringContaining("not valid"),
  });
  expect(await project.read("package.json")).toBe('{"name": "app", "type": "module"}');
});

test("a package that the registry does not have is named", async () => {
  await using project = await given();
  await expect(project.add("absent")).rejects.toMatchObject({
    kind: "user",
    message: expect.stringContaining("absent"),
  });
});
