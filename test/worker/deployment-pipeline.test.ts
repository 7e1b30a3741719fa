import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { appRequest } from "../support/edge/app-request.ts";
import { createHarness, type Tenant } from "../support/service/harness.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";
import { resourcesOf } from "../support/edge/platform-resources.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { hazard, verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const { harness, repositories } = repositoriesHarness();

/** An app that responds with a text. */
const respondingWith = (text: string) => ({
  "src/index.ts": `export default { fetch: () => new Response(${JSON.stringify(text)}) };`,
});

/** A project with the given build script and nothing to install. */
const withBuildScript = (script: string) => ({
  "package.json": JSON.stringify({ scripts: { build: "sh build.sh" } }),
  "build.sh": script,
  ...respondingWith("built"),
});

async function createRepository(name: string, files: Record<string, string>, branch = "main"): Promise<string> {
  const repo = await Repository.create(repositories(), `acme/${name}`);
  await repo.commitFiles(files, branch);
  return `acme/${name}`;
}

async function deploy(
  tenant: Tenant,
  body: object,
): Promise<{ id: string; slug: string; app: Record<string, unknown>; logs: string }> {
  const response = await tenant.rest.deploy(body);
  expect(response.status).toBe(201);
  const id = String(response.body["app_id"]);
  const { body: app } = await harness().waitForStatus(tenant, id);
  const { body: log } = await tenant.rest.get(`/v1/apps/${id}/logs`);
  return { id, slug: String(response.body["slug"]), app, logs: String(log["logs"]) };
}

const deps = () => harness().service.parts.deploymentDeps;

verifies(
  [
    "apps.deploy.clones",
    "apps.state.ready",
    "rest.get.manifest.sql_database_id",
    "rest.get.manifest.object_bucket_name",
    "rest.logs.logs",
    "rest.deploy.branch.given",
  ],
  "a deployment clones the branch, builds it, and ends ready with its resources in the manifest",
  async () => {
    const repo = await createRepository("site", respondingWith("main"));
    const other = await Repository.create(repositories(), "acme/site");
    await other.commitFiles(respondingWith("next"), "next");
    const tenant = await harness().tenant();
    const [main, next] = [await deploy(tenant, { repo }), await deploy(tenant, { repo, branch: "next" })];
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
    const stored = await deps().objects.get(`app-${main.id}`, "src/index.ts");
    expect(new TextDecoder().decode(stored ?? new Uint8Array())).toBe(respondingWith("main")["src/index.ts"]);
    await waitFor(async () => expect(await readdir(path.join(harness().dataDirectory, "builds"))).toEqual([]));
  },
);

test("a deployment without a branch deploys the default branch of a repository that has no main, and the log says so", async () => {
  const repo = await createRepository("old", respondingWith("from master"), "master");
  const repository = await Repository.create(repositories(), repo);
  await repository.git(["symbolic-ref", "HEAD", "refs/heads/master"]);
  const { app, logs } = await deploy(await harness().tenant(), { repo });
  expect(app).toMatchObject({ status: "ready", error: null });
  expect(logs).toContain('The repository has no branch "main". Deploying its default branch, "master".');
});

verifies(
  [hazard(10), hazard(38)],
  "a deployment of a branch that does not exist fails with the branch's name and leaves only the log",
  async () => {
    const repo = await createRepository("branchless", respondingWith("x"));
    const { app, id, slug, logs } = await deploy(await harness().tenant(), { repo, branch: "release/9" });
    expect(app).toMatchObject({
      status: "failed",
      error: expect.stringContaining("release/9"),
      status_message: expect.any(String),
      manifest: null,
    });
    expect(logs).toContain("[service] failed:");
    expect(await resourcesOf(deps(), { id, slug })).toEqual(["log"]);
  },
);

verifies(
  hazard(11),
  "a deployment of an absent repository fails without revealing whether the repository is private",
  async () => {
    const { app } = await deploy(await harness().tenant(), { repo: "acme/nowhere" });
    expect(app).toMatchObject({
      status: "failed",
      error: "The repository does not exist, or the service cannot read it.",
    });
  },
);

verifies(
  ["rest.get.error", "rest.logs.error", hazard(47), hazard(48)],
  "a build that fails keeps its log, shows its exit code, and masks secrets",
  async () => {
    const tenant = await harness().tenant();
    const secret = harness().service.parts.service.tokenSecret;
    const repo = await createRepository(
      "broken",
      withBuildScript(`echo "the reason: $SECRET"\nprintf '\\033]0;owned\\007\\n'\necho ${secret}\nexit 7\n`),
    );
    const { app, id, slug, logs } = await deploy(tenant, { repo });
    expect(app).toMatchObject({
      status: "failed",
      error: expect.stringContaining("7"),
      status_message: expect.stringContaining("build log"),
    });
    expect(logs).toContain("the reason: \n");
    expect(logs).toContain("[masked]");
    for (const text of [logs, JSON.stringify(app), harness().logged()]) expect(text).not.toContain(secret);
    expect(logs).not.toContain("\u001b");
    expect(await resourcesOf(deps(), { id, slug })).toEqual(["log"]);
  },
);

verifies(hazard(49), "a build cannot read the files, the network or the environment of the service", async () => {
  const canary = path.join(harness().dataDirectory, "secrets", "canary");
  await mkdir(path.dirname(canary), { recursive: true });
  await writeFile(canary, "readable\n");
  const script = [
    `cat ${canary} /root/.npmrc /etc/shadow && echo LEAK`,
    `ls ${harness().dataDirectory} && echo LEAK`,
    `env | grep -i -E 'postgres|redis|token|secret' && echo LEAK`,
    `node -e 'require("net").connect(5432,"127.0.0.1").on("connect",()=>console.log("LEAK")).on("error",()=>{})'`,
    `node -e 'require("net").connect(80,"169.254.169.254").on("connect",()=>console.log("LEAK")).on("error",()=>{})'`,
    `exit 3`,
  ].join("\n");
  const { logs } = await deploy(await harness().tenant(), {
    repo: await createRepository("spy", withBuildScript(script)),
  });
  expect(logs).toContain("No such file or directory");
  expect(logs).not.toMatch(/^LEAK/m);
});

verifies(
  "apps.state.ready",
  "an app that does not start never becomes ready, and one that starts and responds with an error has a warning",
  async () => {
    const create = (name: string, script: string) => createRepository(name, { "src/index.ts": script });
    const [broken, failing] = [
      await create("broken", `throw new Error("no database today"); export default { fetch: () => new Response("") };`),
      await create("crash", `export default { fetch() { throw new Error("no database today"); } };`),
    ];
    const tenant = await harness().tenant();
    const { app: refused, id, slug } = await deploy(tenant, { repo: broken });
    expect(refused).toMatchObject({ status: "failed", error: expect.stringContaining("no database today") });
    expect(await resourcesOf(deps(), { id, slug })).toEqual(["log"]);
    const { app: warned } = await deploy(tenant, { repo: failing });
    expect(warned).toMatchObject({ status: "ready", error: null, status_message: expect.stringContaining("500") });
  },
);

verifies(
  ["rest.delete.200", "rest.delete.status", "apps.token.bearer", hazard(57), hazard(63)],
  "200 deletes a live app: its address returns 404, its token is invalid, and it cannot be deleted again",
  async () => {
    const repo = await createRepository("gate", {
      "src/index.ts": `export default { fetch: (request) => new Response(request.headers.get("x-service-auth") ?? "public") };`,
    });
    const tenant = await harness().tenant();
    const { app, id, slug } = await deploy(tenant, { repo });
    const url = String(app["url"]);
    const withToken = { headers: { authorization: `Bearer ${String(app["app_token"])}` } };
    expect(await appRequest(url)).toEqual({ status: 200, text: "public" });
    expect(await appRequest(url, withToken)).toEqual({ status: 200, text: "app" });
    const responses = await Promise.all([tenant.rest.delete(`/v1/apps/${id}`), tenant.rest.delete(`/v1/apps/${id}`)]);
    // The second request finds the app while it is being deleted, or no longer.
    const deleted = responses.filter(({ status }) => status === 200);
    expect(deleted.map(({ body }) => body)).toEqual(deleted.map(() => ({ status: "deleted" })));
    expect(deleted.length + responses.filter(({ status }) => status === 404).length).toBe(2);
    expect(deleted.length).toBeGreaterThanOrEqual(1);
    expect((await tenant.rest.delete(`/v1/apps/${id}`)).status).toBe(404);
    expect((await tenant.rest.get(`/v1/apps/${id}`)).status).toBe(404);
    expect(await resourcesOf(deps(), { id, slug })).toEqual([]);
    expect((await appRequest(url, withToken)).status).toBe(404);
  },
);

verifies(
  [hazard(45), hazard(58)],
  "deleting an app while it builds stops the build first, and no other build",
  async () => {
    const tenant = await harness().tenant();
    const slow = await createRepository("slow", withBuildScript("sleep 300\n"));
    const brief = await createRepository("brief", withBuildScript("sleep 2\n"));
    const first = await tenant.rest.deploy({ repo: slow });
    const second = await tenant.rest.deploy({ repo: brief });
    const id = String(first.body["app_id"]);
    await harness().waitForStatus(tenant, id, ["building"]);
    const response = await tenant.rest.delete(`/v1/apps/${id}`);
    expect([response.status, response.body]).toEqual([200, { status: "deleted" }]);
    expect(await resourcesOf(deps(), { id, slug: String(first.body["slug"]) })).toEqual([]);
    expect((await harness().waitForStatus(tenant, String(second.body["app_id"]))).body["status"]).toBe("ready");
  },
);

verifies("apps.deploy.customizes", "the app builder gets the customization before the app is built", async () => {
  const repo = await createRepository("custom", respondingWith("plain"));
  await using customizing = await createHarness({
    worker: true,
    config: { gitBaseUrl: pathToFileURL(repositories()).href },
    appBuilder: {
      async customize({ sourceDirectory, instructions }) {
        const [text = ""] = instructions;
        await writeFile(path.join(sourceDirectory, "src/index.ts"), respondingWith(text)["src/index.ts"]);
        return { summary: "Changed the response.", steps: 1 };
      },
    },
  });
  const tenant = await customizing.tenant();
  const { body } = await tenant.rest.deploy({ repo, customization: "say $(hello) `there`" });
  const { body: app } = await customizing.waitForStatus(tenant, String(body["app_id"]));
  expect(app["status"]).toBe("ready");
  expect((await appRequest(String(app["url"]))).text).toBe("say $(hello) `there`");
});
