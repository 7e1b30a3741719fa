import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { DependencyStore } from "../../../server/drivers/bundler/dependencies/dependency-store.ts";
import { createTestMirror } from "../../support/builds/create-bundler.ts";
import { type Content, createCheckout, type TestCheckout } from "../../support/builds/bundle-checkout.ts";
import { installCheckout, installWithWarnings, readImported } from "../../support/builds/install-checkout.ts";
import { type PublishedPackage, startRegistry, type TestRegistry } from "../../support/builds/test-registry.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

type Files = Readonly<Record<string, Content>>;
/** A package whose scripts are these. */
const scripted = (name: string, scripts: object, fields: object = {}): PublishedPackage => ({
  name,
  version: "1.0.0",
  files: { "index.js": "module.exports = 'as published';" },
  manifest: { scripts, ...fields },
});

const write = (text: string) => `node -e "require('fs').writeFileSync('index.js', '${text}')"`;
const request = (url: string) =>
  `node -e "fetch('${url}').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"`;

const CPP17 = { install: 'test "$CXXFLAGS" = -std=gnu++17' };
const PACKAGES: readonly PublishedPackage[] = [
  scripted("generating", { postinstall: write("generated") }),
  scripted(
    "dependent",
    { install: 'test "$(cat ../generating/index.js)" = generated' },
    { dependencies: { generating: "1.0.0" } },
  ),
  scripted("downloading", { install: request("https://github.com/releases/program") }),
  scripted("compiling", { install: "echo 'a.h:1:2: error: no type'; echo 'gyp ERR! build error'; exit 1" }),
  scripted("node-sass", { install: request("https://github.com/sass/node-sass/releases/program") }),
  scripted("browser", {
    install: `test "$PUPPETEER_SKIP_DOWNLOAD $PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD" = "true 1" || ${request("https://storage.googleapis.com/browser")}`,
  }),
  scripted("broken", { install: "echo first; echo the reason: no program >&2; exit 3" }),
  scripted("tolerant", {}, { optionalDependencies: { broken: "1.0.0" } }),
  scripted("curious", {
    install: `${request("http://packages.invalid/unrelated")} || ${request("http://packages.invalid/curious")}`,
  }),
  scripted("greedy", { install: request("http://packages.invalid/unrelated") }),
  scripted("spying", { install: 'test -z "$SECRET"' }),
  scripted("reading", { postinstall: "cp /build/schema.prisma index.js" }),
  scripted("writing", { postinstall: "date +%N >/build/written.txt" }),
  scripted("unrelated", {}),
  ...["2.0.0", "3.2.1"].flatMap((version) => [
    { name: "node-addon-api", version, files: {} },
    scripted(`native-${version}`, CPP17, { dependencies: { "node-addon-api": version } }),
  ]),
  scripted("new-native", { install: 'test -z "$CXXFLAGS"' }),
  {
    name: "native",
    version: "1.0.0",
    files: { "cli.js": "#!/usr/bin/env node\n" },
    // As esbuild does.
    manifest: { bin: { native: "cli.js" }, scripts: { postinstall: "cp -f /usr/bin/echo cli.js" } },
  },
];

let registry: TestRegistry;
let root: string;
const opened = new AsyncDisposableStack();
beforeAll(async () => {
  registry = opened.use(await startRegistry(PACKAGES));
  root = opened.use(await temporaryFolder()).path;
});
afterAll(() => opened.disposeAsync());

function project(names: readonly string[], fields: object = {}, files: Files = {}): Files {
  const dependencies = Object.fromEntries(names.map((name) => [name, "1.0.0"]));
  return { "package.json": JSON.stringify({ name: "app", dependencies, ...fields }), "index.js": "", ...files };
}

const mirror = () => createTestMirror({ registry: registry.url }, path.join(root, "packages"));

async function installFailure(files: Files): Promise<BuildFailure> {
  await using checkout = await createCheckout(files);
  const error = await installCheckout(mirror(), checkout).catch((thrown: unknown) => thrown);
  if (error instanceof BuildFailure) return error;
  throw new Error("The install succeeded.");
}

const read = (checkout: TestCheckout, file: string) => readFile(path.join(checkout.sourceDirectory, file), "utf8");

describe("the scripts of installed packages", () => {
  test.each([["npm@11.0.0"], ["yarn@1.22.0"], ["yarn@4.18.1"], ["pnpm@9.0.0"]])(
    "%s: the scripts of packages run, each after those of its dependencies",
    async (packageManager) => {
      const settings: Files = packageManager.startsWith("yarn@4")
        ? { ".yarnrc.yml": "nodeLinker: node-modules\n" }
        : {};
      await using checkout = await createCheckout(project(["dependent", "generating"], { packageManager }, settings));
      await installCheckout(mirror(), checkout);
      expect(await readImported(checkout, "generating")).toBe("generated");
    },
  );

  test("a package that compiles with node-addon-api 3 or older is compiled as C++17, which Node.js 24 would not select", async () => {
    await using checkout = await createCheckout(project(["native-2.0.0", "native-3.2.1", "new-native"]));
    await installCheckout(mirror(), checkout);
  });

  test.each([["npm@11.0.0"], ["pnpm@9.0.0"]])(
    "%s: a program that a script has replaced by a native one can be run",
    async (packageManager) => {
      const scripts = { postinstall: "native one two >said.txt" };
      await using checkout = await createCheckout(project(["native"], { packageManager, scripts }));
      await installCheckout(mirror(), checkout);
      expect(await read(checkout, "said.txt")).toBe("one two\n");
    },
  );

  test("Plug'n'Play: packages with scripts are installed to node_modules, with a warning", async () => {
    await using checkout = await createCheckout(project(["generating"], { packageManager: "yarn@4.18.1" }));
    const { warnings } = await installWithWarnings(mirror(), checkout);
    expect(await readImported(checkout, "generating")).toBe("generated");
    expect(warnings).toEqual([expect.stringContaining("Add `nodeLinker: node-modules` to .yarnrc.yml.")]);
  });

  test.each([
    ["pnpm 10 without an approval", { packageManager: "pnpm@10.0.0" }, "module.exports = 'as published';"],
    [
      "pnpm 10 with an approval",
      { packageManager: "pnpm@10.0.0", pnpm: { onlyBuiltDependencies: ["generating"] } },
      "generated",
    ],
    ["bun without trust", { packageManager: "bun@1.4.5" }, "module.exports = 'as published';"],
    ["bun with trust", { packageManager: "bun@1.4.5", trustedDependencies: ["generating"] }, "generated"],
    ["npm with a denial", { allowScripts: { generating: false } }, "module.exports = 'as published';"],
  ])("%s: the settings of the project decide", async (_name, fields, content) => {
    await using checkout = await createCheckout(project(["generating"], fields));
    await installCheckout(mirror(), checkout);
    expect(await readImported(checkout, "generating")).toBe(content);
  });

  test("ignore-scripts in .npmrc turns scripts off", async () => {
    const scripts = { postinstall: "exit 1" };
    await using checkout = await createCheckout(
      project(["broken"], { scripts }, { ".npmrc": "ignore-scripts=true\n" }),
    );
    await installCheckout(mirror(), checkout);
  });

  test("packages that download a browser for tests are installed without it", async () => {
    await using checkout = await createCheckout(project(["browser"]));
    expect((await installWithWarnings(mirror(), checkout)).warnings).toEqual([]);
  });

  test("a failed script ends the build, and the error names the package and the reason", async () => {
    expect(await installFailure(project(["broken"]))).toMatchObject({
      kind: "user",
      message: "The install script of broken failed with exit code 3: the reason: no program",
    });
  });

  test("a program that does not compile ends the build, and the error says to choose another Node.js", async () => {
    expect(await installFailure(project(["compiling"]))).toMatchObject({
      message: `The install script of compiling could not compile its program for Node.js ${process.versions.node}: a.h:1:2: error: no type`,
      advice: expect.stringContaining('"engines": { "node": "20" }'),
    });
  });

  test("node-sass without a program ends the build, and the error says to use sass", async () => {
    expect(await installFailure(project(["node-sass"]))).toMatchObject({
      message:
        "The install script of node-sass has no program for this build: it downloads the program from github.com, or compiles it with Python 2.",
      advice: expect.stringContaining("npm install --save-dev sass"),
    });
  });

  test("a failed script of an optional package is a warning, and the package is removed", async () => {
    await using checkout = await createCheckout(project(["tolerant"]));
    const { warnings } = await installWithWarnings(mirror(), checkout);
    expect(warnings).toEqual([
      "The install script of broken failed, and the build went on without it: the reason: no program",
    ]);
    await expect(read(checkout, "node_modules/broken/package.json")).rejects.toThrow("ENOENT");
  });

  verifies(
    [hazard(49), hazard(50)],
    "a script reaches no host, and the error names the package and the host",
    async () => {
      expect(await installFailure(project(["downloading"]))).toMatchObject({
        message:
          "The install script of downloading tried to reach github.com. Install scripts reach the package registry only.",
      });
    },
  );

  verifies(hazard(50), "a script gets packages that the install resolved and no other", async () => {
    await using checkout = await createCheckout(project(["curious"]));
    await installCheckout(mirror(), checkout);
    expect(await installFailure(project(["greedy"]))).toMatchObject({
      message: "The install script of greedy requested the package unrelated, which the install did not resolve.",
    });
    expect(registry.requests).not.toContain("/unrelated");
  });

  verifies(hazard(49), "a script of a package sees no variable of the app, and those of the project do", async () => {
    const scripts = { postinstall: 'test "$SECRET" = hidden-value && echo the project sees it' };
    await using checkout = await createCheckout(project(["spying"], { scripts }));
    const log = await installCheckout(mirror(), checkout, null, { SECRET: "hidden-value" });
    expect(log).toContain("the project sees it\n");
  });
});

describe("the scripts of a project", () => {
  test("they run in the order of npm, with the programs of its packages", async () => {
    const events = ["prepare", "postinstall", "preinstall", "install", "build"];
    const scripts = Object.fromEntries(
      events.map((event) => [event, `echo ran $npm_lifecycle_event in $npm_package_name`]),
    );
    await using checkout = await createCheckout(project(["unrelated"], { scripts }));
    const log = await installCheckout(mirror(), checkout);
    expect(log.match(/^ran .*$/gm)).toEqual(
      ["preinstall", "install", "postinstall", "prepare"].map((event) => `ran ${event} in app`),
    );
  });

  test("a failed one ends the build, and the error says which", async () => {
    expect(
      await installFailure(project(["unrelated"], { scripts: { prepare: "echo Error: no schema; exit 2" } })),
    ).toMatchObject({
      message: "The prepare script of package.json failed with exit code 2: no schema",
    });
  });

  test("a check of the package manager is not run, because it would be downloaded", async () => {
    const scripts = { preinstall: "npx only-allow pnpm" };
    await using checkout = await createCheckout(project(["unrelated"], { scripts, packageManager: "pnpm@10.0.0" }));
    expect(await installCheckout(mirror(), checkout)).not.toContain("only-allow");
  });
});

describe("the reuse of what scripts created", () => {
  const REUSED = "using those of an earlier build.";

  /** Projects of npm with a lockfile, so that their dependencies are stored. */
  const locked = (name: string, files: Files = {}): Files => {
    const packages = {
      "": { name: "app", dependencies: { [name]: "1.0.0" } },
      [`node_modules/${name}`]: {
        version: "1.0.0",
        resolved: `https://registry.example/${name}/-/${name}-1.0.0.tgz`,
        hasInstallScript: true,
      },
    };
    return project(
      [name],
      {},
      { "package-lock.json": JSON.stringify({ name: "app", lockfileVersion: 3, packages }), ...files },
    );
  };

  /** Installs for an app. Returns the log and the module that the script wrote. */
  async function install(dependencies: DependencyStore, appId: string, name: string, files: Files = {}) {
    await using checkout = await createCheckout(locked(name, files));
    const log = await installCheckout(mirror(), checkout, { dependencies, organizationId: "organization", appId });
    await dependencies.close();
    return { isReused: log.includes(REUSED), hasRun: log.includes("> "), module: await readImported(checkout, name) };
  }

  async function openStore() {
    const folder = await temporaryFolder();
    return {
      dependencies: new DependencyStore(folder.path),
      [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
    };
  }

  test("the second build of an app runs no script of a package, and another app runs its own", async () => {
    await using store = await openStore();
    const first = await install(store.dependencies, "app", "generating");
    const second = await install(store.dependencies, "app", "generating");
    const other = await install(store.dependencies, "other", "generating");
    expect([first, second, other]).toEqual([
      { isReused: false, hasRun: true, module: "generated" },
      { isReused: true, hasRun: false, module: "generated" },
      { isReused: true, hasRun: true, module: "generated" },
    ]);
  });

  test("a changed schema runs the scripts again", async () => {
    await using store = await openStore();
    await install(store.dependencies, "app", "reading", { "schema.prisma": "first" });
    const second = await install(store.dependencies, "app", "reading", { "schema.prisma": "second" });
    expect(second).toEqual({ isReused: true, hasRun: true, module: "second" });
  });

  test("scripts that write outside of node_modules run in every build", async () => {
    await using store = await openStore();
    await install(store.dependencies, "app", "writing");
    expect(await install(store.dependencies, "app", "writing")).toMatchObject({ isReused: true, hasRun: true });
  });
});
