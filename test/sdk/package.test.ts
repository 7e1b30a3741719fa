import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { transform } from "esbuild";
import { fastify } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { downloadsPlugin } from "../../server/web/downloads.ts";
import { buildSdk, compile, installPackage } from "../support/sdk/build-sdk.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { temporaryFolder, type TemporaryFolder } from "../support/temporary-folder.ts";

const service = sharedHarness({ worker: true, sharesBuilds: true });
const server = fastify();
let folder: TemporaryFolder;
let tarball: string;
/** A project outside the repository, in which the package is installed. */
let project: string;

/** The size of the bundle, minified and gzipped, in bytes. */
const MAX_SIZE = 30_000;
/** Source files of TypeScript's own libraries, of the package and of the project. Before, a client compiled 802 files. */
const MAX_FILES = 130;

beforeAll(async () => {
  folder = await temporaryFolder();
  tarball = await buildSdk(folder.path);
  await server.register(downloadsPlugin({ publicUrl: () => "http://127.0.0.1", folder: folder.path }));
  const url = await server.listen({ port: 0, host: "127.0.0.1" });
  project = path.join(folder.path, "project");
  await mkdir(project);
  await writeFile(path.join(project, "package.json"), JSON.stringify({ type: "module" }));
  await installPackage(project, `${url}/downloads/sdk.tgz`);
});
afterAll(async () => {
  await server.close();
  await folder[Symbol.asyncDispose]();
});

const CORRECT = `
  import { createClient, ServiceError, type Input, type Output } from "@app-provisioning-service/sdk";
  const service = createClient({ url: "http://127.0.0.1:3000", token: "svk_x" });
  const request: Input<"apps", "deploy"> = { repo: "examples/guestbook", branch: "main" };
  const { deployment, url } = await service.deployAndWait(request, {
    onProgress(progress) {
      if (progress.type === "line") progress.line.toUpperCase();
      else if (progress.type === "status") progress.status satisfies string;
      else progress.app_id satisfies string;
    },
  });
  const live: boolean = deployment.is_live;
  const { apps } = await service.apps.list();
  const app: Output<"apps", "list">["apps"][number] | undefined = apps[0];
  const statuses: ("ready" | "failed" | "canceled" | "deleting")[] = [];
  if (app?.status === "ready") statuses.push(app.status);
  for await (const event of service.followBuildLog({ id: "x", number: 2 }))
    if (event.type === "line") event.line.length;
    else event.status_message satisfies string | null;
  for await (const { level } of service.followRuntimeLog({ id: "x", level: "warn" })) level satisfies "error" | string;
  await service.deployments.rollback({ id: "x", number: 1 }, { idempotencyKey: "a", signal: new AbortController().signal });
  try {
    await service.apps.delete({ id: "x" });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    switch (error.code) {
      case "rate_limited":
        error.retryAfterSeconds satisfies number | null;
        break;
      case "network":
        break;
      default:
        error.issues satisfies readonly { message: string }[];
    }
  }
  export { live, url };
`;

/** Each line is one mistake. */
const MISTAKES = [
  `await service.apps.deploy({ repo: "a/b", brnch: "main" });`,
  `await service.apps.deploy({ files: ["index.js"] });`,
  `await service.apps.deploy({ repo: 1 });`,
  `await service.apps.get();`,
  `(await service.apps.get({ id: "x" })).statuss;`,
  `if ((await service.apps.get({ id: "x" })).status === "done") throw new Error();`,
  `await service.apps.list({}, { idempotencyKey: "x" });`,
  `await service.app.list();`,
  `createClient({ url: "http://127.0.0.1:3000" });`,
  `if (new ServiceError("network", "x").code === "offline") throw new Error();`,
];

async function writeProject(moduleResolution: "bundler" | "nodenext", program: string): Promise<void> {
  const module = moduleResolution === "bundler" ? "esnext" : "nodenext";
  const options = {
    strict: true,
    noEmit: true,
    target: "es2022",
    lib: ["es2023", "dom", "dom.asynciterable"],
    types: [],
  };
  // Not `skipLibCheck`, so that the declarations of the package are checked too.
  const compilerOptions = { ...options, module, moduleResolution };
  await writeFile(path.join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["main.ts"] }));
  await writeFile(path.join(project, "main.ts"), program);
}

test("the same sources give the same bytes, which have no dependencies and fit in 30 kB", async () => {
  await using other = await temporaryFolder();
  expect(await readFile(await buildSdk(other.path))).toEqual(await readFile(tarball));
  const installed = path.join(project, "node_modules/@app-provisioning-service/sdk");
  const manifest = JSON.parse(await readFile(path.join(installed, "package.json"), "utf8")) as object;
  expect(manifest).not.toHaveProperty("dependencies");
  const bundle = await readFile(path.join(installed, "dist/client.js"), "utf8");
  expect(bundle).not.toMatch(/^\s*(import|require)\b/m);
  expect(gzipSync((await transform(bundle, { minify: true })).code).length).toBeLessThan(MAX_SIZE);
});

test.each(["bundler", "nodenext"] as const)(
  "a program outside the repository compiles with moduleResolution %s, without any file of the service",
  async (moduleResolution) => {
    await writeProject(moduleResolution, CORRECT);
    const files = await compile(project, "--listFiles");
    expect(files.filter((line) => line.includes("error TS"))).toEqual([]);
    expect(files.length).toBeLessThan(MAX_FILES);
    const outside = files.filter((file) => !file.startsWith(project) && !/typescript[^/]*\/lib\/lib[.]/.test(file));
    expect(outside).toEqual([]);
  },
);

test.each(["bundler", "nodenext"] as const)(
  "each mistake is a type error with moduleResolution %s",
  async (resolution) => {
    const head = [
      `import { createClient, ServiceError } from "@app-provisioning-service/sdk";`,
      `const service = createClient({ url: "http://127.0.0.1:3000", token: "svk_x" });`,
    ];
    await writeProject(resolution, [...head, ...MISTAKES].join("\n"));
    const errors = await compile(project, "--pretty", "false");
    const lines = new Set(errors.flatMap((error) => /main[.]ts\((\d+),/.exec(error)?.[1] ?? []).map(Number));
    expect([...lines]).toEqual(MISTAKES.map((_, at) => at + head.length + 1));
  },
);

const PROGRAM = `
  import { createClient, ServiceError } from "@app-provisioning-service/sdk";
  const [url, token] = process.argv.slice(2);
  const service = createClient({ url, token });
  const progress = [];
  const app = await service.deployAndWait({ repo: "examples/guestbook" }, { onProgress: (each) => progress.push(each) });
  const lines = [];
  let end;
  for await (const event of service.followBuildLog({ id: app.app_id })) event.type === "line" ? lines.push(event.line) : (end = event);
  const { apps } = await service.apps.list();
  const deleted = await service.apps.delete({ id: app.app_id });
  const error = await service.apps.get({ id: app.app_id }).catch((error) => error);
  const reported = progress.flatMap((each) => (each.type === "line" ? [each.line] : []));
  console.log(JSON.stringify({
    types: progress.map(({ type }) => type).filter((type, at, all) => all.indexOf(type) === at).sort(),
    status: app.deployment.status,
    sameLines: JSON.stringify(reported) === JSON.stringify(lines),
    lastLine: lines.at(-1),
    end: end.status,
    listed: apps.map(({ id }) => id === app.app_id),
    deleted,
    error: [error instanceof ServiceError, error.code, error.status, error.message],
  }));
`;

test("an installed SDK deploys an app, follows its log, lists it and deletes it", async () => {
  const tenant = await service().tenant();
  await writeFile(path.join(project, "program.mjs"), PROGRAM);
  const args = ["program.mjs", service().service.publicUrl, tenant.api_key];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: project });
  expect(JSON.parse(stdout)).toEqual({
    types: ["accepted", "line", "status"],
    status: "ready",
    sameLines: true,
    lastLine: "[service] ready",
    end: "ready",
    listed: [true],
    deleted: { status: "deleted" },
    error: [true, "not_found", 404, expect.stringMatching(/not found|No such app/)],
  });
});

test("200 serves the package without authentication, and 503 says how to build it", async () => {
  const response = await server.inject("/downloads/sdk.tgz");
  expect([response.statusCode, response.headers["content-type"]]).toEqual([200, "application/gzip"]);
  expect(response.rawPayload).toEqual(await readFile(tarball));
  await using empty = await temporaryFolder();
  const unbuilt = fastify();
  await unbuilt.register(downloadsPlugin({ publicUrl: () => "http://127.0.0.1", folder: empty.path }));
  const missing = await unbuilt.inject("/downloads/sdk.tgz");
  expect([missing.statusCode, missing.body]).toEqual([503, expect.stringContaining("npm run setup")]);
});
