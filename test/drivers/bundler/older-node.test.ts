import { readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { DependencyStore } from "../../../server/drivers/bundler/dependencies/dependency-store.ts";
import { createCheckout } from "../../support/builds/bundle-checkout.ts";
import { createTestMirror } from "../../support/builds/create-bundler.ts";
import { installWithWarnings, readImported } from "../../support/builds/install-checkout.ts";
import { startRegistry, type TestRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const nodeOf = (version: string) => ({
  name: `node-linux-${process.arch}`,
  version,
  files: { "bin/node": `#!/bin/sh\necho v${version}\n` },
  manifest: { bin: { node: "bin/node" } },
});

/** Writes the version of Node.js to its main module if it is one of these, and otherwise prints the output of a compiler and fails. */
const native = (name: string, versions: string, output: string) => ({
  name,
  version: "1.0.0",
  files: { "index.js": "", "output.txt": output },
  manifest: {
    scripts: {
      install: `case "$(node --version)" in ${versions}) node --version >index.js;; *) cat output.txt; exit 1;; esac`,
    },
  },
});

/** What better-sqlite3 9.6.0 printed for Node.js 24. */
const V8_OUTPUT = readFileSync(path.join(import.meta.dirname, "recorded-output/node-gyp-v8.txt"), "utf8");
const V8_ERROR = "./src/better_sqlite3.lzz:37:104: error: ‘struct Addon’ has no member named ‘SqliteError’";

const PACKAGES = [
  nodeOf("20.1.0"),
  nodeOf("22.1.0"),
  native("old-native", "v20.*", V8_OUTPUT),
  native("without-library", "v20.*", "a.cc:1:10: fatal error: cairo.h: No such file\ngyp ERR! build error\n"),
  native("too-old", "v12.*", V8_OUTPUT),
  native("sharp", "v12.*", "../src/common.cc:23:10: fatal error: vips/vips8: No such file\ngyp ERR! build error\n"),
];

let registry: TestRegistry;
let root: string;
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  registry = opened.use(await startRegistry(PACKAGES));
  root = opened.use(await temporaryFolder()).path;
});
afterAll(() => opened.disposeAsync());

const lockfile = (name: string) =>
  JSON.stringify({
    lockfileVersion: 3,
    packages: {
      "": { dependencies: { [name]: "1.0.0" } },
      [`node_modules/${name}`]: { version: "1.0.0", hasInstallScript: true },
    },
  });
const project = (name: string, fields: object = {}) => ({
  "package.json": JSON.stringify({ dependencies: { [name]: "1.0.0" }, ...fields }),
  "package-lock.json": lockfile(name),
  "index.js": "",
});

const mirror = () => createTestMirror({ registry: registry.url }, path.join(root, "packages"));

const WARNING = `A package does not compile for Node.js ${process.versions.node}. The app was built with Node.js 20 and runs with it, which gets no security fixes any more. Update the package, or name this version: "engines": { "node": "20" } in package.json.`;

describe("a native package that does not compile for the Node.js of the service", () => {
  test("is compiled with the newest older version that works, with a warning, also by later builds", async () => {
    const dependencies = new DependencyStore(path.join(root, "stored"));
    const stored = { dependencies, organizationId: "one", appId: "app" };
    const logs: string[] = [];
    for (let build = 0; build < 2; build++) {
      await using checkout = await createCheckout(project("old-native"));
      const { log, warnings } = await installWithWarnings(mirror(), checkout, stored);
      expect(await readImported(checkout, "old-native")).toBe("v20.1.0\n");
      expect(warnings).toEqual([WARNING]);
      logs.push(log);
    }
    expect(logs[0]).toContain(`for Node.js ${process.versions.node}: ${V8_ERROR} Compiling with Node.js 22.\n`);
    expect(logs[0]).toContain("Compiling with Node.js 20.\n");
    expect(logs[1]).not.toContain("Compiling");
  });

  test.each([
    ["that lacks a library", "without-library", {}, "cairo.h", "choose a Node.js that it supports"],
    ["of sharp, which downloads it", "sharp", {}, "libvips is not installed", "Update sharp"],
    ["that the project requires", "old-native", { engines: { node: ">=24" } }, "SqliteError", "choose a Node.js"],
    ["and for no other one", "too-old", {}, "SqliteError", "It does not compile with Node.js 22, 20 either."],
  ])("ends the build: %s", async (_name, name, fields, message, advice) => {
    await using checkout = await createCheckout(project(name, fields));
    const error = await installWithWarnings(mirror(), checkout).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(BuildFailure);
    expect(error).toMatchObject({
      message: expect.stringContaining(message),
      advice: expect.stringContaining(advice),
    });
  });
});
