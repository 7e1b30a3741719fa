import { existsSync } from "node:fs";
import { readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { appRequest } from "../support/edge/app-request.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import { resourcesOf } from "../support/edge/platform-resources.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { hazard, verifies } from "../support/verifies.ts";

let repositories: Awaited<ReturnType<typeof temporaryFolder>>;
let harness: Harness;

beforeAll(async () => {
  repositories = await temporaryFolder();
  harness = await createHarness({ worker: true, config: { gitBaseUrl: pathToFileURL(repositories.path).href } });
});

afterAll(async () => {
  await harness[Symbol.asyncDispose]();
  await repositories[Symbol.asyncDispose]();
});

const saying = (text: string) => ({
  "src/index.ts": `export default { fetch: () => new Response(${JSON.stringify(text)}) };`,
});

/** A project whose build script does as told, with nothing to install. */
const building = (script: string) => ({
  "package.json": JSON.stringify({ scripts: { build: "sh build.sh" } }),
  "build.sh": script,
  ...saying("built"),
});

async function repository(name: string, files: Record<string, string>, branch = "main"): Promise<string> {
  const repo = await Repository.create(repositories.path, `acme/${name}`);
  await repo.commitFiles(files, branch);
  return `acme/${name}`;
}

async function deployed(
  tenant: Tenant,
  body: object,
): Promise<{ id: string; slug: string; app: Record<string, unknown>; logs: string }> {
  const answer = await tenant.rest.deploy(body);
  expect(answer.status).toBe(201);
  const id = String(answer.body["app_id"]);
  const { body: app } = await harness.settled(tenant, id);
  const { body: log } = await tenant.rest.get(`/v1/apps/${id}/logs`);
  return { id, slug: String(answer.body["slug"]), app, logs: String(log["logs"]) };
}

const platform = () => harness.service.parts.deploymentDeps;

verifies(
  [
    "apps.deploy.clones",
    "apps.state.ready",
    "rest.get.manifest.sql_database_id",
    "rest.get.manifest.object_bucket_name",
    "rest.logs.logs",
    "rest.deploy.branch.given",
  ],
  "a deploy clones the branch, builds it, and ends ready with its resources in the manifest",
  async () => {
    const repo = await repository("site", saying("main"));
    const other = await Repository.create(repositories.path, "acme/site");
    await other.commitFiles(saying("next"), "next");
    const tenant = await harness.tenant();
    const [main, next] = [await deployed(tenant, { repo }), await deployed(tenant, { repo, branch: "next" })];
    for (const [{ app, id, logs }, text] of [
      [main, "main"],
      [next, "next"],
    ] as const) {
      expect(app).toMatchObject({ status: "ready", status_message: null, error: null });
      expect(app["manifest"]).toEqual({ sql_database_id: `app-${id}`, object_bucket_name: `app-${id}` });
      expect(await appRequest(String(app["url"]))).toEqual({ status: 200, text });
      expect(logs).toMatch(/^\[service\] cloning acme\/site, branch /);
      expect(logs).toMatch(/\[service\] ready\n$/);
    }
    const stored = await platform().objects.get(`app-${main.id}`, "src/index.ts");
    expect(new TextDecoder().decode(stored ?? new Uint8Array())).toBe(saying("main")["src/index.ts"]);
    await vi.waitFor(async () => expect(await readdir(path.join(harness.dataDirectory, "builds"))).toEqual([]));
  },
);

verifies(
  [hazard(10), hazard(38)],
  "a branch that does not exist fails the deploy by name and leaves nothing but the log",
  async () => {
    const repo = await repository("branchless", saying("x"));
    const { app, id, slug, logs } = await deployed(await harness.tenant(), { repo, branch: "release/9" });
    expect(app).toMatchObject({
      status: "failed",
      error: expect.stringContaining("release/9"),
      status_message: expect.any(String),
      manifest: null,
    });
    expect(logs).toContain("[service] failed:");
    expect(await resourcesOf(platform(), { id, slug })).toEqual(["log"]);
  },
);

verifies(hazard(11), "an absent repository fails the deploy without saying whether it is private", async () => {
  const { app } = await deployed(await harness.tenant(), { repo: "acme/nowhere" });
  expect(app).toMatchObject({
    status: "failed",
    error: "The repository does not exist, or the service cannot read it.",
  });
});

verifies(
  ["rest.get.error", "rest.logs.error", hazard(47), hazard(48)],
  "a build that fails keeps its log, names its exit code, and masks what is secret",
  async () => {
    const tenant = await harness.tenant();
    const secret = harness.service.parts.capabilities.apps.tokenSecret;
    const repo = await repository(
      "broken",
      building(`echo "the reason: $SECRET"\nprintf '\\033]0;owned\\007\\n'\necho ${secret}\nexit 7\n`),
    );
    const { app, id, slug, logs } = await deployed(tenant, { repo });
    expect(app).toMatchObject({
      status: "failed",
      error: expect.stringContaining("7"),
      status_message: expect.stringContaining("build log"),
    });
    expect(logs).toContain("the reason: \n");
    expect(logs).toContain("[masked]");
    for (const text of [logs, JSON.stringify(app), harness.logged()]) expect(text).not.toContain(secret);
    expect(logs).not.toContain("\u001b");
    expect(await resourcesOf(platform(), { id, slug })).toEqual(["log"]);
  },
);

verifies(hazard(49), "a build sees no file of the service, no network and no environment of it", async () => {
  const canary = path.join(harness.dataDirectory, "secrets", "token-secret");
  expect(existsSync(canary)).toBe(true);
  const script = [
    `cat ${canary} /root/.npmrc /etc/shadow && echo LEAK`,
    `ls ${harness.dataDirectory} && echo LEAK`,
    `env | grep -i -E 'postgres|redis|token|secret' && echo LEAK`,
    `node -e 'require("net").connect(5432,"127.0.0.1").on("connect",()=>console.log("LEAK")).on("error",()=>{})'`,
    `node -e 'require("net").connect(80,"169.254.169.254").on("connect",()=>console.log("LEAK")).on("error",()=>{})'`,
    `exit 3`,
  ].join("\n");
  const { logs } = await deployed(await harness.tenant(), { repo: await repository("spy", building(script)) });
  expect(logs).toContain("No such file or directory");
  expect(logs).not.toMatch(/^LEAK/m);
});

verifies("apps.state.ready", "an app that answers its first request with an error never becomes ready", async () => {
  const repo = await repository("crash", {
    "src/index.ts": `export default { fetch() { throw new Error("no database today"); } };`,
  });
  const { app, id, slug } = await deployed(await harness.tenant(), { repo });
  expect(app).toMatchObject({ status: "failed", error: expect.any(String) });
  expect(await resourcesOf(platform(), { id, slug })).toEqual(["log"]);
});

verifies(
  ["rest.delete.200", "rest.delete.status", "apps.token.bearer", hazard(57), hazard(63)],
  "200 deletes a live app: nothing answers at its address, its token opens nothing, and it cannot be deleted again",
  async () => {
    const repo = await repository("gate", {
      "src/index.ts": `export default { fetch: (request) => new Response(request.headers.get("x-service-auth") ?? "public") };`,
    });
    const tenant = await harness.tenant();
    const { app, id, slug } = await deployed(tenant, { repo });
    const url = String(app["url"]);
    const withToken = { headers: { authorization: `Bearer ${String(app["app_token"])}` } };
    expect(await appRequest(url)).toEqual({ status: 200, text: "public" });
    expect(await appRequest(url, withToken)).toEqual({ status: 200, text: "app" });
    const answers = await Promise.all([tenant.rest.delete(`/v1/apps/${id}`), tenant.rest.delete(`/v1/apps/${id}`)]);
    expect(answers.map(({ status, body }) => [status, body])).toContainEqual([200, { status: "deleted" }]);
    for (const { status } of answers) expect([200, 404]).toContain(status);
    expect((await tenant.rest.delete(`/v1/apps/${id}`)).status).toBe(404);
    expect((await tenant.rest.get(`/v1/apps/${id}`)).status).toBe(404);
    expect(await resourcesOf(platform(), { id, slug })).toEqual([]);
    expect((await appRequest(url, withToken)).status).toBe(404);
  },
);

verifies(
  [hazard(45), hazard(58)],
  "deleting an app while it builds stops the build first, and harms no other build",
  async () => {
    const tenant = await harness.tenant();
    const slow = await repository("slow", building("sleep 300\n"));
    const brief = await repository("brief", building("sleep 2\n"));
    const first = await tenant.rest.deploy({ repo: slow });
    const second = await tenant.rest.deploy({ repo: brief });
    const id = String(first.body["app_id"]);
    await harness.settled(tenant, id, ["building"]);
    const answer = await tenant.rest.delete(`/v1/apps/${id}`);
    expect([answer.status, answer.body]).toEqual([200, { status: "deleted" }]);
    expect(await resourcesOf(platform(), { id, slug: String(first.body["slug"]) })).toEqual([]);
    expect((await harness.settled(tenant, String(second.body["app_id"]))).body["status"]).toBe("ready");
  },
);

verifies("apps.deploy.customizes", "a customization reaches the app builder before the app is built", async () => {
  const repo = await repository("custom", saying("plain"));
  await using customizing = await createHarness({
    worker: true,
    config: { gitBaseUrl: pathToFileURL(repositories.path).href },
    appBuilder: {
      customize: ({ sourceDirectory, instructions }) =>
        writeFile(path.join(sourceDirectory, "src/index.ts"), saying(instructions)["src/index.ts"]),
    },
  });
  const tenant = await customizing.tenant();
  const { body } = await tenant.rest.deploy({ repo, customization: "say $(hello) `there`" });
  const { body: app } = await customizing.settled(tenant, String(body["app_id"]));
  expect(app["status"]).toBe("ready");
  expect((await appRequest(String(app["url"]))).text).toBe("say $(hello) `there`");
});
