import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Content, createCheckout } from "../../support/builds/bundle-checkout.ts";
import { createTestMirror } from "../../support/builds/create-bundler.ts";
import { GREETING_PACKAGES, WORDS } from "../../support/builds/greeting-packages.ts";
import { installCheckout, readImported } from "../../support/builds/install-checkout.ts";
import { privateRegistry, REGISTRY_TOKEN, SECRET_CONTENT } from "../../support/builds/private-registry.ts";
import type { PublicHosts } from "../../support/builds/public-hosts.ts";
import { startRegistry, type TestRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const REGISTRY = { url: "https://npm.acme.example/", scope: "@acme", token: REGISTRY_TOKEN };

let shared: TestRegistry;
let hosts: PublicHosts;
let cache: string;
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  shared = opened.use(await startRegistry(GREETING_PACKAGES));
  cache = opened.use(await temporaryFolder()).path;
  hosts = opened.use(await privateRegistry());
});
afterAll(() => opened.disposeAsync());

const mirror = () => createTestMirror({ registry: shared.url }, cache, hosts.remote);
const dependencies = { "@acme/tool": "^1.0.0", greeting: "^1.0.0" };
const project = (packageManager: string, files: Readonly<Record<string, Content>> = {}) => ({
  "package.json": JSON.stringify({ name: "app", packageManager, dependencies }),
  "index.js": "",
  ...files,
});

const NPMRC = "@acme:registry=https://npm.acme.example/\n//npm.acme.example/:_authToken=${NPM_TOKEN}\n";

test.each([
  ["npm@11.0.0", {}],
  ["npm@11.0.0", { ".npmrc": NPMRC }],
  ["pnpm@10.0.0", { ".npmrc": NPMRC }],
  ["yarn@1.22.0", { ".npmrc": NPMRC }],
  [
    "yarn@4.18.1",
    {
      ".yarnrc.yml":
        'nodeLinker: node-modules\nnpmScopes:\n  acme:\n    npmRegistryServer: "https://npm.acme.example"\n    npmAuthToken: "${NPM_TOKEN}"\n',
    },
  ],
  ["bun@1.4.5", { ".npmrc": NPMRC }],
])("%s installs packages of a private registry with its token, with the settings %j", async (manager, files) => {
  await using checkout = await createCheckout(project(manager, files));
  await installCheckout(mirror(), checkout, null, {}, REGISTRY);
  expect(await readImported(checkout, "@acme/tool")).toBe(SECRET_CONTENT);
  expect(await readImported(checkout, "greeting", "@scope/words")).toBe(WORDS);
  expect(shared.requests.filter((each) => each.includes("acme"))).toEqual([]);
});

verifies(hazard(50), "the token is sent to its registry only, and packages are not cached for others", async () => {
  await using checkout = await createCheckout(project("npm@11.0.0"));
  await installCheckout(mirror(), checkout, null, {}, REGISTRY);
  const others = hosts.requests.filter(({ url }) => !url.startsWith("npm.acme.example/"));
  // The stand-in redirects a tarball to this host.
  expect(others).toContainEqual({ url: "files.example/tool.tgz", authorization: undefined });
  expect(others.every(({ authorization }) => authorization === undefined)).toBe(true);
  await using without = await createCheckout(project("npm@11.0.0"));
  await expect(installCheckout(mirror(), without)).rejects.toThrow("does not have the package @acme/tool");
  await using wrong = await createCheckout(project("npm@11.0.0"));
  await expect(installCheckout(mirror(), wrong, null, {}, { ...REGISTRY, token: "wrong" })).rejects.toThrow(
    "does not have the package @acme/tool",
  );
});

verifies(hazard(50), "no file of the install and no variable contains the token", async () => {
  const attack = 'require("node:child_process").execSync("env; cat .npmrc ~/.npmrc; true", { stdio: "inherit" });';
  await using checkout = await createCheckout(project("pnpm@10.0.0", { ".npmrc": NPMRC, ".pnpmfile.cjs": attack }));
  const log = await installCheckout(mirror(), checkout, null, {}, REGISTRY);
  expect(log).toContain("NPM_TOKEN=none");
  expect(log).not.toContain(REGISTRY_TOKEN);
  expect(await readFile(path.join(checkout.sourceDirectory, ".npmrc"), "utf8")).not.toContain(REGISTRY_TOKEN);
});
