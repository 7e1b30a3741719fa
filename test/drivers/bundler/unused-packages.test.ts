import { describe, expect, test } from "vitest";
import { createCheckout, runBundler } from "../../support/builds/bundle-checkout.ts";
import { createRegistryBundler, publishProject, startManifest } from "../../support/builds/publish-project.ts";
import type { PublishedPackage } from "../../support/builds/test-registry.ts";

const library = (name: string, manifest: Record<string, unknown> = {}): PublishedPackage => ({
  name,
  version: "1.0.0",
  files: { "index.js": `exports.name = "${name}";` },
  manifest,
});

const PACKAGES: readonly PublishedPackage[] = [
  library("used", { dependencies: { inner: "1.0.0", "@scope/inner": "1.0.0" } }),
  library("inner", { peerDependencies: { peer: "1.0.0" } }),
  library("@scope/inner"),
  library("peer"),
  library("tool", { dependencies: { "tool-part": "1.0.0", inner: "1.0.0" } }),
  library("tool-part"),
  library("@scope/tool"),
  library("transport"),
  {
    name: "runner",
    version: "1.0.0",
    files: {
      "cli.js": `#!/usr/bin/env node\nrequire(require("path").resolve(process.argv[2])); require("runner-part");`,
    },
    manifest: { bin: { runner: "cli.js" }, dependencies: { "runner-part": "1.0.0" } },
  },
  library("runner-part"),
];

const DEPENDENCIES = {
  dependencies: { used: "1.0.0" },
  devDependencies: { tool: "1.0.0", "@scope/tool": "1.0.0", transport: "1.0.0", runner: "1.0.0", peer: "1.0.0" },
};

/** Responds with the packages that exist, or with the error of a require. */
const SERVER = `
  const { readdirSync, existsSync } = require("fs");
  require("used");
  const list = (folder) => existsSync(folder) ? readdirSync(folder).filter((name) => existsSync(folder + "/" + name)) : [];
  const find = (modules) => list(modules).flatMap((name) =>
    name.startsWith("@") ? list(modules + "/" + name).map((each) => name + "/" + each) : name.startsWith(".") ? [] : [name]);
  const store = list("node_modules/.pnpm").flatMap((each) => find("node_modules/.pnpm/" + each + "/node_modules"));
  const names = [...new Set([...find("node_modules"), ...store])].sort();
  require("http").createServer((request, response) => response.end(names.join(" "))).listen(process.env.PORT);`;

const NEEDED = "@scope/inner inner peer used";

describe.each([
  ["npm", {}],
  ["pnpm", { packageManager: "pnpm@10.0.0" }],
  ["Yarn 1", { packageManager: "yarn@1.22.22" }],
])("a server that is installed with %s", (_manager, fields) => {
  test("has its dependencies for production, and none that only development needs", async () => {
    await using app = await publishProject(
      { "package.json": startManifest("node server.js", { ...DEPENDENCIES, ...fields }), "server.js": SERVER },
      PACKAGES,
    );
    await app.published;
    expect(await app.get("/")).toBe(NEEDED);
    expect(app.log).toMatch(/Left out \d+ packages that only development needs/);
  });
});

test("all packages stay if the code of the server compiles TypeScript at its start", async () => {
  await using app = await publishProject(
    {
      "package.json": startManifest("node server.js", DEPENDENCIES),
      "server.js": `try { require("ts-node/register"); } catch {}\n${SERVER}`,
    },
    PACKAGES,
  );
  await app.published;
  expect(await app.get("/")).toContain("tool");
  expect(app.log).not.toContain("Left out");
});

test("all packages stay if the code of the server runs a program of one that only development needs", async () => {
  await using app = await publishProject(
    {
      "package.json": startManifest("node start.js", DEPENDENCIES),
      "start.js": `require("child_process").spawn("npx", ["runner", "server.js"], { stdio: "inherit" });`,
      "server.js": SERVER,
    },
    PACKAGES,
  );
  await app.published;
  expect(await app.get("/")).toContain("tool");
  expect(app.log).not.toContain("Left out");
});

test("packages for development stay if the code or a configuration of the server names them", async () => {
  await using app = await publishProject(
    {
      "package.json": startManifest("node src/server.js", DEPENDENCIES),
      "src/server.js": `${SERVER}\nconst transport = { target: "transport" }; const migrate = "npx runner up";`,
      "server.config.js": `module.exports = { plugin: require("@scope/tool") };`,
      "test/server.test.js": `require("tool");`,
      "jest.config.js": `module.exports = { preset: "tool" };`,
    },
    PACKAGES,
  );
  await app.published;
  expect(await app.get("/")).toBe("@scope/inner @scope/tool inner peer runner runner-part transport used");
});

test.each([
  ["runs a program of one", { start: "runner server.js" }, {}],
  ["runs a program of one that pnpm has installed", { start: "runner server.js" }, { packageManager: "pnpm@10.0.0" }],
  [
    "runs a script with a program of one",
    { start: "npm run a && npm run b", a: "true", b: "FROM=b runner server.js" },
    {},
  ],
  ["loads one", { start: "node --require transport server.js" }, {}],
])("all packages stay if the start command %s", async (_case, scripts, fields) => {
  await using app = await publishProject(
    { "package.json": JSON.stringify({ scripts, ...fields, ...DEPENDENCIES }), "server.js": SERVER },
    PACKAGES,
  );
  await app.published;
  expect(await app.get("/")).toBe(
    "@scope/inner @scope/tool inner peer runner runner-part tool tool-part transport used",
  );
});

test("a program of a dependency for production needs no package for development, also with pnpm", async () => {
  const { runner, ...devDependencies } = DEPENDENCIES.devDependencies;
  await using app = await publishProject(
    {
      "package.json": startManifest("runner server.js", {
        packageManager: "pnpm@10.0.0",
        dependencies: { ...DEPENDENCIES.dependencies, runner },
        devDependencies,
      }),
      "server.js": SERVER,
    },
    PACKAGES,
  );
  await app.published;
  expect(await app.get("/")).toBe("@scope/inner inner peer runner runner-part used");
});

test("a package that is only for development stays if the code that the build wrote names it", async () => {
  await using app = await publishProject(
    {
      "package.json": startManifest("node dist/server.js", {
        scripts: { start: "node dist/server.js", build: "mkdir dist && cp server.js dist" },
        devDependencies: { ...DEPENDENCIES.dependencies, ...DEPENDENCIES.devDependencies },
      }),
      "server.js": SERVER,
      "src/tool.js": `require("tool");`,
    },
    PACKAGES,
  );
  await app.published;
  expect(await app.get("/")).toBe(NEEDED);
});

test("the packages have the same digest in every build with the same lockfile", async () => {
  await using setup = await createRegistryBundler(PACKAGES);
  const digests = [];
  for (const code of [SERVER, `${SERVER}\n// Changed.`]) {
    await using checkout = await createCheckout({
      "package.json": startManifest("node server.js", DEPENDENCIES),
      "server.js": code,
    });
    const { bundle } = await runBundler(setup.bundler, checkout);
    if (bundle.code.runtime === "node") digests.push(bundle.code.server.layers.map(({ digest }) => digest));
  }
  const [[firstFiles, firstPackages], [secondFiles, secondPackages]] = digests as [string[], string[]];
  expect(firstPackages).toBe(secondPackages);
  expect(firstFiles).not.toBe(secondFiles);
});

/** Writes what \`next build\` writes with \`output: "standalone"\`, for a project in \`folder\` of a workspace. */
const nextBuild = (folder: string) => `
  const fs = require("fs");
  const write = (file, text) => {
    fs.mkdirSync(require("path").dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  };
  write(".next/BUILD_ID", "1");
  write(".next/static/chunk.js", "static");
  write(".next/standalone/node_modules/traced/index.js", "exports.word = 'traced'");
  write(".next/standalone/${folder}.next/BUILD_ID", "1");
  write(".next/standalone/${folder}server.js", \`
    process.chdir(__dirname);
    const fs = require("fs");
    const files = ["public/a.txt", ".next/static/chunk.js", "server-code.js", "node_modules/next"];
    require("http").createServer((request, response) =>
      response.end([require("traced").word, ...files.filter((file) => fs.existsSync(file))].join(" "))).listen(process.env.PORT);
  \`);`;

const NEXT: PublishedPackage = {
  name: "next",
  version: "16.0.0",
  files: {
    "cli.js": `#!/usr/bin/env node\nrequire("http").createServer((q, r) => r.end("next start")).listen(process.env.PORT);`,
  },
  manifest: { bin: { next: "cli.js" } },
};

test.each([
  ["next start", "next start"],
  ["its server", "node .next/standalone/server.js"],
])(
  "the standalone output of Next.js is all that is deployed, with its static files, if %s starts",
  async (_what, start) => {
    await using app = await publishProject(
      {
        "package.json": startManifest(start, {
          scripts: { start, build: "node build.js" },
          dependencies: { next: "16.0.0" },
        }),
        "build.js": nextBuild(""),
        "public/a.txt": "a",
        "server-code.js": "",
      },
      [NEXT],
    );
    await app.published;
    expect(app.bundle.code).toMatchObject({ server: { command: "node server.js", directory: "." } });
    expect(await app.get("/")).toBe("traced public/a.txt .next/static/chunk.js");
  },
);

test("the standalone output of Next.js is completed with what the Dockerfile copies from the build", async () => {
  await using app = await publishProject(
    {
      "package.json": startManifest("next start", {
        scripts: { start: "next start", build: "node build.js" },
        dependencies: { next: "16.0.0" },
      }),
      "build.js": `${nextBuild("")}\nwrite("database/app.db", ""); write("messages/en.json", "{}");`.replace(
        "node_modules/next",
        'database/app.db", "locales/en.json',
      ),
      Dockerfile: `FROM node AS base
        WORKDIR /app
        FROM base AS builder
        COPY . .
        FROM base
        COPY --from=builder --chown=nextjs:nodejs /app/.next/standalone ./
        COPY --from=builder \\
          /app/database ./database
        COPY --from=builder /app/messages/en.json locales/`,
    },
    [NEXT],
  );
  await app.published;
  expect(await app.get("/")).toBe("traced .next/static/chunk.js database/app.db locales/en.json");
});

test("without the standalone output, and with another start command, Next.js is deployed as a whole", async () => {
  for (const [start, build] of [
    ["next start", `require("fs").mkdirSync(".next"); require("fs").writeFileSync(".next/BUILD_ID", "1");`],
    ["next start && true", nextBuild("")],
  ] as const) {
    await using app = await publishProject(
      {
        "package.json": startManifest(start, {
          scripts: { start, build: "node build.js" },
          dependencies: { next: "16.0.0" },
        }),
        "build.js": build,
      },
      [NEXT],
    );
    await app.published;
    expect(await app.get("/")).toBe("next start");
  }
});
