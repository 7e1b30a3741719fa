import { afterAll, beforeAll, expect, test } from "vitest";
import type { BuildEgressOptions } from "../../../server/drivers/bundler/build-step.ts";
import { DependencyStore } from "../../../server/drivers/bundler/dependencies/dependency-store.ts";
import { installPackages } from "../../../server/drivers/bundler/install-packages.ts";
import { readProject } from "../../../server/drivers/bundler/read-project.ts";
import { packageManagerEnvironment } from "../../../server/drivers/bundler/select-package-manager.ts";
import type { RemoteFetcherOptions } from "../../../server/sandbox/remote-fetcher.ts";
import { createCheckout } from "../../support/builds/bundle-checkout.ts";
import { createTestMirror } from "../../support/builds/create-bundler.ts";
import { buildContext, readImported } from "../../support/builds/install-checkout.ts";
import { type PublicHosts, startPublicHosts } from "../../support/builds/public-hosts.ts";
import { startRegistry, type TestRegistry } from "../../support/builds/test-registry.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Writes what it got from the host of the engines and from another one, and like Prisma does not fail without an engine. */
const DOWNLOAD = `
  const fs = require("fs");
  const get = (host) => fetch("https://" + host + "/all_commits/1/schema-engine.gz").then(
    async (response) => response.ok ? response.text() : String(response.status), () => "refused");
  Promise.all(["binaries.prisma.sh", "files.example"].map(get)).then((texts) => {
    if (texts[0] === "engine") fs.writeFileSync("schema-engine-test", "");
    fs.writeFileSync("index.js", [...texts, process.env.PRISMA_SCHEMA_ENGINE_BINARY ?? "unset"].join());
  });`;
const FILES = { "index.js": "", "download.js": DOWNLOAD };
const MANIFEST = { scripts: { postinstall: "node download.js" } };

const EGRESS: BuildEgressOptions = { setting: "prisma", hosts: ["binaries.prisma.sh:443"], isPublic: false };

let registry: TestRegistry;
let hosts: PublicHosts;
let failing: PublicHosts;
let cache: string;
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  registry = opened.use(
    await startRegistry([
      { name: "@prisma/engines", version: "5.22.0", files: FILES, manifest: MANIFEST },
      { name: "other", version: "5.22.0", files: FILES, manifest: MANIFEST },
    ]),
  );
  const engine = { "/all_commits/1/schema-engine.gz": Buffer.from("engine") };
  const urls = Object.entries(engine).flatMap(([url, body]) =>
    ["binaries.prisma.sh", "files.example"].map((host) => [`${host}${url}`, body] as const),
  );
  hosts = opened.use(await startPublicHosts(Object.fromEntries(urls)));
  failing = opened.use(await startPublicHosts({}));
  cache = opened.use(await temporaryFolder()).path;
});
afterAll(() => opened.disposeAsync());

interface InstallOptions {
  name?: string;
  egress?: BuildEgressOptions;
  remote?: RemoteFetcherOptions;
  store?: DependencyStore | null;
}

/** Installs a project with one package. */
async function install({
  name = "@prisma/engines",
  egress = EGRESS,
  remote = hosts.remote,
  store = null,
}: InstallOptions) {
  const dependencies = { [name]: "5.22.0" };
  const resolved = `https://registry.example/${name}/-/${name.split("/").at(-1)}-5.22.0.tgz`;
  const locked = { version: "5.22.0", resolved, hasInstallScript: true };
  const packages = { "": { name: "app", dependencies }, [`node_modules/${name}`]: locked };
  await using checkout = await createCheckout({
    "package.json": JSON.stringify({ name: "app", dependencies }),
    "package-lock.json": JSON.stringify({ name: "app", lockfileVersion: 3, packages }),
    "index.js": "",
  });
  await using scratch = await memoryFolder();
  const location = { packageDirectory: ".", installDirectory: ".", isMember: false, buildFirst: [] };
  const project = await readProject(checkout.sourceDirectory, location);
  const chunks: Uint8Array[] = [];
  const request = {
    ...checkout,
    ...(store && { organizationId: "org", appId: "app" }),
    onOutput: (chunk: Uint8Array) => void chunks.push(chunk),
    signal: new AbortController().signal,
  };
  const env = packageManagerEnvironment(project.packageManager);
  const context = { ...buildContext(request, scratch.path), env, egress, dependencies: store };
  const mirror = createTestMirror({ registry: registry.url }, cache, remote);
  const installed = await installPackages(context, mirror, project);
  await store?.close();
  return {
    written: await readImported(checkout, name),
    /** What stands for an engine in the following steps. */
    standIn: installed.context.env["PRISMA_SCHEMA_ENGINE_BINARY"],
    warnings: installed.warnings,
    log: Buffer.concat(chunks).toString(),
  };
}

const warning = (text: string) => [expect.stringContaining(`binaries.prisma.sh, ${text}. Prisma Client works with`)];
const STAND_IN = expect.stringMatching(/\/script-bin\/prisma-engine$/);
const UNREACHABLE = { lookup: () => Promise.reject(new Error("ENOTFOUND")) };

test("the install script of Prisma downloads its engines, and reaches no other host", async () => {
  const { log, ...installed } = await install({});
  expect(installed).toEqual({ written: "engine,refused,unset", standIn: undefined, warnings: [] });
  expect(log).toContain("The install script of @prisma/engines tried to reach files.example.");
});

test("without Prisma, install scripts do not reach the host of its engines", async () => {
  expect(await install({ name: "other" })).toMatchObject({ written: "refused,refused,unset", warnings: [] });
});

test("if the operator does not allow the download, a program stands for the engines, and a warning names the setting", async () => {
  const installed = await install({ egress: { ...EGRESS, hosts: [] } });
  expect(installed.written).toMatch(/^refused,refused,\/\S+\/script-bin\/prisma-engine$/);
  expect(installed).toMatchObject({
    standIn: STAND_IN,
    warnings: warning("which builds may not reach (BUILD_EGRESS)"),
  });
});

test("after an outage of the host, the next build downloads the engines, and the one after that has them", async () => {
  await using folder = await temporaryFolder();
  const store = new DependencyStore(folder.path);
  const first = await install({ remote: UNREACHABLE, store });
  expect(first).toMatchObject({ standIn: STAND_IN, warnings: warning("which does not respond") });
  expect(await install({ store })).toMatchObject({ written: "engine,refused,unset", warnings: [] });
  expect(await install({ remote: UNREACHABLE, store })).toMatchObject({
    written: "engine,refused,unset",
    warnings: [],
  });
});

test("a download that fails is a warning, the log says why, and the next build tries again", async () => {
  await using folder = await temporaryFolder();
  const store = new DependencyStore(folder.path);
  const first = await install({ remote: failing.remote, store });
  expect(first).toMatchObject({ written: "404,refused,unset", standIn: STAND_IN, warnings: warning("which failed") });
  expect(first.log).toContain("schema-engine.gz: binaries.prisma.sh responded with status 404.");
  expect(await install({ store })).toMatchObject({ written: "engine,refused,unset", warnings: [] });
});
