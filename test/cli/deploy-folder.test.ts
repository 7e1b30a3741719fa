import { execFile } from "node:child_process";
import { mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ARCHIVE_BUCKET } from "../../domain/archives/archive-objects.ts";
import { removeUnusedArchives } from "../../domain/archives/remove-unused-archives.ts";
import { DEFAULT_LIMITS } from "../../domain/plans/plans.ts";
import { createCli, type TestCli } from "../support/cli/run-cli.ts";
import { appRequest } from "../support/edge/app-request.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { WAIT_LIMIT_MS } from "../support/time-limits.ts";
import { verifies } from "../support/verifies.ts";

const run = promisify(execFile);
const plans = { scale: { ...DEFAULT_LIMITS, apps: 1000, deploys: { limit: 1000, windowSeconds: 60 } } };
const service = sharedHarness({ worker: true, config: { plans, defaultPlan: "scale" } });
let tenant: Tenant;
let cli: TestCli;

beforeAll(async () => {
  tenant = await service().tenant();
  cli = await createCli({ SVC_URL: service().service.publicUrl, SVC_TOKEN: tenant.api_key });
});
afterAll(() => cli[Symbol.asyncDispose]());

const worker = (text: string) => `export default { fetch: () => new Response(${JSON.stringify(text)}) };`;

/** A folder with a Worker, and whatever else is given. */
async function givenFolder(files: Record<string, string> = {}) {
  const temporary = await temporaryFolder();
  const folder = path.join(temporary.path, "My Shop");
  const write = async (all: Record<string, string>): Promise<void> => {
    for (const [name, text] of Object.entries(all)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), text);
    }
  };
  await write({ "src/index.js": worker("one"), ...files });
  return { path: folder, write, [Symbol.asyncDispose]: () => temporary[Symbol.asyncDispose]() };
}

/** Deploys a folder with `svc deploy .`. */
function deploy(cwd: string, ...args: string[]) {
  return cli.run(["deploy", ".", ...args], { cwd });
}

async function sourcesOf(appId: string): Promise<string[]> {
  return (await service().service.parts.service.objects.list(`app-${appId}`)).map(({ key }) => key);
}

async function stateOf(folder: string): Promise<{ service: string; app_id: string }> {
  return JSON.parse(await readFile(path.join(folder, ".svc-app.json"), "utf8")) as never;
}

verifies("cli.deploy.folder", "svc deploy . deploys a folder, and the second time the same app again", async () => {
  await using folder = await givenFolder();
  const first = await deploy(folder.path);
  expect([first.code, first.stderr]).toEqual([
    0,
    expect.stringMatching(/^Deploying \. as my-shop-[a-z0-9]{6} \(1 files\)\n[^]*\[service\] ready\n$/),
  ]);
  const url = first.stdout.trim();
  expect((await appRequest(url)).text).toBe("one");
  const state = await stateOf(folder.path);
  expect(state).toEqual({ service: service().service.publicUrl, app_id: expect.any(String) });
  await folder.write({ "src/index.js": worker("two") });
  const second = await deploy(folder.path);
  expect([second.code, second.stdout.trim(), second.stderr]).toEqual([
    0,
    url,
    expect.stringContaining("again as my-shop-"),
  ]);
  expect((await appRequest(url)).text).toBe("two");
  expect(await stateOf(folder.path)).toEqual(state);
  const app = await tenant.rest.get(`/v1/apps/${state.app_id}`);
  expect(app.body).toMatchObject({ name: "My Shop", repo: null, branch: null, status: "ready" });

  // A rollback, a redeploy of the last archive, and a deletion that leaves nothing.
  const slug = String(app.body["slug"]);
  expect((await cli.run(["deployments", "rollback", slug, "1"])).code).toBe(0);
  await expect.poll(async () => (await appRequest(url)).text, { timeout: WAIT_LIMIT_MS }).toBe("one");
  expect((await cli.run(["deployments", "redeploy", slug])).code).toBe(0);
  await expect.poll(async () => (await appRequest(url)).text, { timeout: WAIT_LIMIT_MS }).toBe("two");
  expect((await cli.run(["apps", "delete", slug, "--yes"])).code).toBe(0);
  const { objects, db } = service().service.parts.service;
  await removeUnusedArchives({ objects, db }, { orgId: tenant.org_id, unusedMs: -1000 });
  expect((await objects.list(ARCHIVE_BUCKET)).filter(({ key }) => key.startsWith(tenant.org_id))).toEqual([]);
  const deleted = await deploy(folder.path);
  expect([deleted.code, deleted.stderr]).toEqual([1, expect.stringContaining("Deploy a new one with --new")]);
  expect((await deploy(folder.path, "--new", "--name", "Second", "--no-wait")).stdout).toMatch(/^http:\/\/second-/);
  expect((await stateOf(folder.path)).app_id).not.toBe(state.app_id);
});

const FILES = {
  ".gitignore": "ignored\n*.log\n!keep.log\n",
  "ignored/x": "x",
  "debug.log": "x",
  "keep.log": "x",
  "node_modules/a/index.js": "x",
  "lib/.gitignore": "own\n",
  "lib/own": "x",
  "lib/a.js": "",
  ".env": "SECRET=1",
  "lib/.env.production": "SECRET=1",
  ".dev.vars": "SECRET=1",
  ".env.example": "SECRET=",
  "run.sh": "",
};
const DEPLOYED = [".env.example", ".gitignore", "keep.log", "lib/.gitignore", "lib/a.js", "run.sh", "src/index.js"];

for (const isGit of [true, false])
  test(`a folder ${isGit ? "in" : "outside of"} git is deployed without what .gitignore excludes, and without secrets`, async () => {
    await using folder = await givenFolder(FILES);
    if (isGit) await run("git", ["init", "--quiet"], { cwd: folder.path });
    await symlink("src/index.js", path.join(folder.path, "inside"));
    await symlink("/etc/passwd", path.join(folder.path, "outside"));
    const { code, stderr } = await deploy(folder.path);
    expect(code).toBe(0);
    expect(stderr).toContain("Left out .dev.vars, .env, lib/.env.production: files with secrets are not uploaded.");
    expect(stderr).toContain("Left out outside: symbolic links that lead out.");
    const { app_id } = await stateOf(folder.path);
    // Links are no sources of the app.
    expect(await sourcesOf(app_id)).toEqual(DEPLOYED);
    expect((await deploy(folder.path, "--include-secrets")).stderr).not.toContain("files with secrets");
    expect(await sourcesOf(app_id)).toEqual(expect.arrayContaining([".dev.vars", ".env", "lib/.env.production"]));
  });

test("a tracked file that was deleted, and a folder that git ignores as a whole, can be deployed", async () => {
  await using folder = await givenFolder({
    "old.js": "x",
    ".gitignore": "build\n",
    "build/src/index.js": worker("built"),
  });
  await run("git", ["init", "--quiet"], { cwd: folder.path });
  await run("git", ["add", "."], { cwd: folder.path });
  await rm(path.join(folder.path, "old.js"));
  expect((await deploy(folder.path)).code).toBe(0);
  expect(await sourcesOf((await stateOf(folder.path)).app_id)).toEqual([".gitignore", "src/index.js"]);
  const built = await deploy(path.join(folder.path, "build"), "--json");
  expect(built.code).toBe(0);
  expect((await appRequest((JSON.parse(built.stdout) as { url: string }).url)).text).toBe("built");
});

test("a failed build has the exit code 1, and the next deployment corrects the same app", async () => {
  await using folder = await givenFolder({ "src/index.js": "broken(" });
  const failed = await deploy(folder.path);
  expect([failed.code, failed.stdout, failed.stderr]).toEqual([1, "", expect.stringMatching(/error: .+\n$/)]);
  const { app_id } = await stateOf(folder.path);
  await folder.write({ "src/index.js": worker("mended") });
  const mended = await deploy(folder.path, "--json");
  expect(JSON.parse(mended.stdout)).toMatchObject({ app_id, number: 2 });
});

test("--watch deploys the newest state after each change, and goes on after a failed build", async () => {
  await using folder = await givenFolder();
  const watching = cli.start(["deploy", ".", "--watch"], { cwd: folder.path });
  const until = (pattern: RegExp) => expect.poll(watching.stderr, { timeout: WAIT_LIMIT_MS }).toMatch(pattern);
  await until(/ready\n/);
  const { app_id } = await stateOf(folder.path);
  const text = async () => {
    const { body } = await tenant.rest.get(`/v1/apps/${app_id}`);
    return (await appRequest(String(body["url"]))).text;
  };
  await folder.write({ "src/index.js": "broken(" });
  await until(/error: /);
  // The second one comes while the first one is deployed, or is part of it.
  await folder.write({ "src/index.js": worker("two") });
  await until(/again as [^]*again as /);
  await folder.write({ "src/index.js": worker("three") });
  await expect.poll(text, { timeout: WAIT_LIMIT_MS }).toBe("three");
  watching.child.kill("SIGINT");
  expect(await watching.ended).toMatchObject({ code: 130 });
  const { body } = await tenant.rest.get(`/v1/apps/${app_id}/deployments`);
  const statuses = (body["deployments"] as { status: string }[]).map(({ status }) => status);
  expect(statuses.filter((status) => status === "failed")).toHaveLength(1);
});

test("owner/name is a repository also if there is such a folder, and what is ambiguous has a clear message", async () => {
  await using folder = await givenFolder({ "acme/hello/index.html": "own", file: "x" });
  const options = { cwd: folder.path };
  const repository = await cli.run(["deploy", "acme/hello", "--no-wait"], options);
  expect([repository.code, repository.stdout, repository.stderr]).toEqual([
    0,
    expect.stringMatching(/^http:\/\/hello-/),
    expect.stringContaining("To deploy the folder: svc deploy ./acme/hello"),
  ]);
  const wrong: [args: string[], message: string][] = [
    [["absent"], '"absent" is neither a folder nor a repository.'],
    [["./absent"], "There is no folder ./absent."],
    [["file"], "file is a file. Pass the folder of the app."],
    [[".", "--branch", "main"], "--branch is for a repository."],
    [[".", "--watch", "--no-wait"], "--watch waits for each deployment."],
    [["acme/hello", "--watch"], "--watch is for a folder."],
  ];
  for (const [args, message] of wrong)
    expect(await cli.run(["deploy", ...args], options)).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining(message),
    });
  const state = { service: "https://other.example.com", app_id: "x" };
  await folder.write({ ".svc-app.json": JSON.stringify(state) });
  expect(await deploy(folder.path)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("https://other.example.com"),
  });
  await folder.write({ ".svc-app.json": "{}" });
  expect(await deploy(folder.path)).toMatchObject({ code: 1, stderr: expect.stringContaining("is not valid") });
  await using empty = await temporaryFolder();
  expect(await deploy(empty.path)).toMatchObject({ code: 1, stderr: expect.stringContaining("contains no files") });
});
