import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BuildEgressOptions } from "../../../server/drivers/bundler/build-step.ts";
import { DependencyStore } from "../../../server/drivers/bundler/dependencies/dependency-store.ts";
import { installPackages } from "../../../server/drivers/bundler/install-packages.ts";
import { readProject } from "../../../server/drivers/bundler/read-project.ts";
import { packageManagerEnvironment } from "../../../server/drivers/bundler/select-package-manager.ts";
import { createCheckout } from "../../support/builds/bundle-checkout.ts";
import { createTestMirror } from "../../support/builds/create-bundler.ts";
import { buildContext, readImported } from "../../support/builds/install-checkout.ts";
import { startRegistry, type TestRegistry } from "../../support/builds/test-registry.ts";
import { createCertificate } from "../../support/identity/certificate.ts";
import { memoryFolder } from "../../support/memory-folder.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Writes what it got from the host of the engines and from another one, and the variable that replaces an engine. */
const download = (port: number) => `
  const get = (host) => fetch("https://" + host + ":${port}/engine").then((response) => response.text(), () => "refused");
  Promise.all(["binaries.prisma.sh", "other.prisma.sh"].map(get)).then((texts) =>
    require("fs").writeFileSync("index.js", [...texts, process.env.PRISMA_QUERY_ENGINE_LIBRARY ?? "unset"].join()));`;

let registry: TestRegistry;
let root: string;
let certificate: string;
let egress: BuildEgressOptions;
const opened = new AsyncDisposableStack();

beforeAll(async () => {
  const { cert, key } = createCertificate("prisma.sh");
  certificate = cert;
  const server = createServer({ cert, key }, (_request, response) => void response.end("engine"));
  opened.defer(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  egress = {
    setting: "prisma",
    hosts: [`binaries.prisma.sh:${port}`],
    isPublic: false,
    lookup: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
    isAllowedAddress: () => true,
  };
  const files = { "index.js": "", "download.js": download(port) };
  const manifest = { scripts: { postinstall: "NODE_EXTRA_CA_CERTS=/build/certificate.pem node download.js" } };
  registry = opened.use(
    await startRegistry([
      { name: "@prisma/engines", version: "5.22.0", files, manifest },
      { name: "other", version: "5.22.0", files, manifest },
    ]),
  );
  root = opened.use(await temporaryFolder()).path;
});
afterAll(() => opened.disposeAsync());

/** Installs a project with one package. Returns what its script wrote, and the warnings. */
async function install(
  name: string,
  allowed: BuildEgressOptions | null,
  store: DependencyStore | null = null,
): Promise<readonly [written: string, warnings: readonly string[]]> {
  const dependencies = { [name]: "5.22.0" };
  const locked = {
    version: "5.22.0",
    resolved: `https://registry.example/${name}/-/engines-5.22.0.tgz`,
    hasInstallScript: true,
  };
  const packages = { "": { name: "app", dependencies }, [`node_modules/${name}`]: locked };
  await using checkout = await createCheckout({
    "package.json": JSON.stringify({ name: "app", dependencies }),
    ...(store && { "package-lock.json": JSON.stringify({ name: "app", lockfileVersion: 3, packages }) }),
    "index.js": "",
    "certificate.pem": certificate,
  });
  await using scratch = await memoryFolder();
  const location = { packageDirectory: ".", installDirectory: ".", isMember: false, buildFirst: [] };
  const project = await readProject(checkout.sourceDirectory, location);
  const request = {
    ...checkout,
    ...(store && { organizationId: "org", appId: "app" }),
    onOutput: () => {},
    signal: new AbortController().signal,
  };
  const context = {
    ...buildContext(request, scratch.path),
    env: packageManagerEnvironment(project.packageManager),
    egress: allowed,
    dependencies: store,
  };
  const { warnings } = await installPackages(context, createTestMirror({ registry: registry.url }, root), project);
  await store?.close();
  return [await readImported(checkout, name), warnings];
}

const WITHOUT_ENGINE = /^refused,refused,\/\S+\/script-bin\/prisma-engine$/;

test("install scripts download the engines of Prisma, and reach no other host", async () => {
  expect(await install("@prisma/engines", egress)).toEqual(["engine,refused,unset", []]);
});

test("without Prisma, install scripts do not reach the host of its engines", async () => {
  expect(await install("other", egress)).toEqual(["refused,refused,unset", []]);
});

test("if the operator does not allow the download, a program stands for the engines, and a warning names the setting", async () => {
  const warning = expect.stringContaining("the operator can allow it with BUILD_EGRESS=fonts,prisma");
  expect(await install("@prisma/engines", { ...egress, hosts: [] })).toEqual([
    expect.stringMatching(WITHOUT_ENGINE),
    [warning],
  ]);
});

test("after an outage of the host, the next build downloads the engines, and the one after that has them", async () => {
  await using folder = await temporaryFolder();
  const store = new DependencyStore(folder.path);
  const outage = { ...egress, lookup: () => Promise.reject(new Error("ENOTFOUND")) };
  const warning = expect.stringContaining("which does not respond to the machine of the service");
  expect(await install("@prisma/engines", outage, store)).toEqual([expect.stringMatching(WITHOUT_ENGINE), [warning]]);
  expect(await install("@prisma/engines", egress, store)).toEqual(["engine,refused,unset", []]);
  expect(await install("@prisma/engines", outage, store)).toEqual(["engine,refused,unset", []]);
});
