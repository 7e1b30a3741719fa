import { expect, test } from "vitest";
import { appRequest } from "../support/edge/app-request.ts";
import type { Tenant } from "../support/service/harness.ts";
import { repositoriesHarness } from "../support/service/repositories-harness.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { verifies } from "../support/verifies.ts";
import { waitFor } from "../support/time-limits.ts";

const { harness, repositories } = repositoriesHarness({ sharesBuilds: true });

/** An app that responds with a text. */
const respondingWith = (text: string) => ({
  "src/index.ts": `export default { fetch: () => new Response(${JSON.stringify(text)}) };`,
});

/** A static site with one page. Its build is quicker than that of a script. */
const siteWith = (text: string) => ({ "index.html": text });

/** Deploys a new repository, and returns functions that act on the app. */
async function deployedApp(name: string, files: Record<string, string>, settings: object = {}) {
  const owner = await harness().tenant();
  const repository = await Repository.create(repositories(), `acme/${name}`);
  const firstCommit = await repository.commitFiles(files);
  const { body } = await owner.rest.deploy({ repo: `acme/${name}`, ...settings });
  const id = String(body["app_id"]);
  const url = String(body["url"]);
  const path = `/v1/apps/${id}`;
  await harness().waitForStatus(owner, id);
  const redeploy = async (request: object = {}) => {
    const response = await owner.rest.post(`${path}/deployments`, request);
    expect(response.status).toBe(201);
    return response.body as { number: number };
  };
  const get = async (number: number) => (await owner.rest.get(`${path}/deployments/${number}`)).body;
  const untilStatus = async (number: number, status: string) =>
    waitFor(async () => expect(await get(number)).toMatchObject({ status }));
  return { owner, id, url, path, repository, firstCommit, redeploy, get, untilStatus };
}

verifies(
  ["deployments.redeploy", "deployments.read", "apps.update"],
  "a redeploy puts the newest commit live at the same URL, and the deployment before is superseded",
  async () => {
    const { owner, url, path, repository, firstCommit, redeploy, get, untilStatus } = await deployedApp(
      "redeployed",
      respondingWith("first"),
    );
    const secondCommit = await repository.commitFiles(respondingWith("second"));
    expect(await redeploy()).toMatchObject({ number: 2, status: "queued", trigger: "redeploy", is_live: false });
    await untilStatus(2, "ready");
    expect(await appRequest(url)).toEqual({ status: 200, text: "second" });
    expect(await get(1)).toMatchObject({
      status: "superseded",
      commit: firstCommit,
      is_live: false,
      can_roll_back: true,
    });
    expect(await get(2)).toMatchObject({ commit: secondCommit, is_live: true, can_roll_back: false, error: null });
    const { body } = await owner.rest.get(`${path}/deployments?limit=1`);
    const listed = async (number: number) => ({ ...(await get(number)), steps: undefined });
    expect(body["deployments"]).toEqual([await listed(2)]);
    const next = await owner.rest.get(`${path}/deployments?limit=1&cursor=${String(body["next_cursor"])}`);
    expect(next.body).toEqual({ deployments: [await listed(1)], next_cursor: null });
    expect((await owner.rest.get(`${path}/deployments/2/logs`)).body["logs"]).toContain("[service] ready");
  },
);

test("a redeploy of a commit or of another branch leaves the app's own branch unchanged", async () => {
  const { url, repository, firstCommit, redeploy, get, untilStatus } = await deployedApp("chosen", siteWith("first"));
  await repository.commitFiles(siteWith("second"));
  await repository.commitFiles(siteWith("of the branch"), "other");
  await redeploy({ branch: "other" });
  await untilStatus(2, "ready");
  expect(await appRequest(url)).toEqual({ status: 200, text: "of the branch" });
  await redeploy({ commit: firstCommit });
  await untilStatus(3, "ready");
  expect(await appRequest(url)).toEqual({ status: 200, text: "first" });
  expect(await get(3)).toMatchObject({ branch: "main", commit: firstCommit });
  await redeploy();
  await untilStatus(4, "ready");
  expect(await appRequest(url)).toEqual({ status: 200, text: "second" });
});

test("a new root directory takes effect with the next deployment, and a rollback ignores it", async () => {
  const files = {
    "a/index.html": "a",
    "b/index.html": "b",
  };
  const { owner, url, path, redeploy, get, untilStatus } = await deployedApp("folders", files, { root_directory: "a" });
  expect(await appRequest(url)).toEqual({ status: 200, text: "a" });
  const headers = { "content-type": "application/json" };
  const changed = await owner.rest.send("PATCH", path, { body: JSON.stringify({ root_directory: "b/" }), headers });
  expect(changed.body).toMatchObject({ root_directory: "b" });
  await redeploy();
  await untilStatus(2, "ready");
  expect(await appRequest(url)).toEqual({ status: 200, text: "b" });
  await owner.rest.post(`${path}/rollback`, { number: 1 });
  await untilStatus(3, "ready");
  expect(await appRequest(url)).toEqual({ status: 200, text: "a" });
  expect([await get(1), await get(2), await get(3)].map((each) => each["root_directory"])).toEqual(["a", "b", "a"]);
});

test("a redeploy of a repository without main deploys its default branch again", async () => {
  const repository = await Repository.create(repositories(), "acme/trunk");
  await repository.commitFiles(siteWith("first"), "trunk");
  await repository.git(["symbolic-ref", "HEAD", "refs/heads/trunk"]);
  const owner = await harness().tenant();
  const { body } = await owner.rest.deploy({ repo: "acme/trunk" });
  const id = String(body["app_id"]);
  await harness().waitForStatus(owner, id, ["ready"]);
  await repository.commitFiles(siteWith("second"), "trunk");
  expect((await owner.rest.post(`/v1/apps/${id}/deployments`, {})).status).toBe(201);
  await harness().waitForStatus(owner, id, ["ready"]);
  expect(await appRequest(String(body["url"]))).toEqual({ status: 200, text: "second" });
});

test("a redeploy of a commit that does not exist fails with the commit, and the live deployment serves", async () => {
  const { owner, url, path, redeploy, get, untilStatus } = await deployedApp("absent-commit", siteWith("first"));
  const commit = "0123456789abcdef0123456789abcdef01234567";
  await redeploy({ commit });
  await untilStatus(2, "failed");
  expect(await get(2)).toMatchObject({ commit, error: expect.stringContaining(commit) });
  expect((await owner.rest.get(path)).body).toMatchObject({
    status: "failed",
    manifest: { sql_database_id: expect.any(String) },
  });
  expect(await appRequest(url)).toEqual({ status: 200, text: "first" });
});

test("a deployment that does not respond changes nothing for visitors", async () => {
  const { url, repository, redeploy, untilStatus, get } = await deployedApp("broken", respondingWith("first"));
  await repository.commitFiles({ "src/index.ts": `export default { fetch() { throw new Error("broken") } };` });
  await redeploy();
  await untilStatus(2, "failed");
  expect(await get(1)).toMatchObject({ status: "ready", is_live: true });
  expect(await appRequest(url)).toEqual({ status: 200, text: "first" });
});

/** An app that responds with a text, and with the names of its tables. */
const notes = (text: string) => ({
  "src/index.ts": `export default { async fetch(request, { DB }) {
    const { results } = await DB.prepare("select name from sqlite_master where type = 'table' and name in ('notes', 'tags') order by name").all();
    return new Response(${JSON.stringify(text)} + " " + results.map(({ name }) => name).join(","));
  } };`,
  "wrangler.json": JSON.stringify({
    name: "notes",
    main: "src/index.ts",
    compatibility_date: "2026-01-01",
    d1_databases: [{ binding: "DB", database_name: "notes", database_id: "x" }],
  }),
  "migrations/0001_notes.sql": "create table notes (text text);",
});

verifies(
  "deployments.rollback",
  "a rollback puts a kept bundle live without a build, and names the migrations that stay",
  async () => {
    const { owner, url, path, repository, firstCommit, redeploy, get, untilStatus } = await deployedApp(
      "notes",
      notes("first"),
    );
    await repository.commitFiles({ ...notes("second"), "migrations/0002_tags.sql": "create table tags (name text);" });
    await redeploy();
    await untilStatus(2, "ready");
    expect(await appRequest(url)).toEqual({ status: 200, text: "second notes,tags" });
    const rollback = await owner.rest.post(`${path}/rollback`, { number: 1 });
    expect([rollback.status, rollback.body]).toEqual([
      201,
      expect.objectContaining({ number: 3, trigger: "rollback", rollback_to: 1, commit: firstCommit }),
    ]);
    await untilStatus(3, "ready");
    expect(await appRequest(url)).toEqual({ status: 200, text: "first notes,tags" });
    expect(await get(3)).toMatchObject({ is_live: true, status_message: expect.stringContaining("0002_tags.sql") });
    expect((await owner.rest.get(`${path}/deployments/3/logs`)).body["logs"]).not.toContain("cloning");
    expect((await owner.rest.post(`${path}/rollback`, { number: 2 })).status).toBe(201);
    await untilStatus(4, "ready");
    expect(await appRequest(url)).toEqual({ status: 200, text: "second notes,tags" });
  },
);

test("a rollback brings back the static files of its bundle", async () => {
  const site = (text: string) => ({ ...siteWith(text), [`${text}.txt`]: text });
  const { owner, url, path, repository, redeploy, untilStatus } = await deployedApp("pages", site("first"));
  await repository.commitFiles(site("second"));
  await redeploy();
  await untilStatus(2, "ready");
  await owner.rest.post(`${path}/rollback`, { number: 1 });
  await untilStatus(3, "ready");
  expect(await appRequest(url)).toEqual({ status: 200, text: "first" });
  expect(await appRequest(`${url}/first.txt`)).toEqual({ status: 200, text: "first" });
  expect((await appRequest(`${url}/second.txt`)).status).toBe(404);
});

test("a rollback to a live, failed, foreign or unknown deployment is rejected and changes nothing", async () => {
  const { owner, path, redeploy, untilStatus } = await deployedApp("rejected", siteWith("first"));
  await redeploy({ commit: "0".repeat(40) });
  await untilStatus(2, "failed");
  const rollBack = async (tenant: Tenant, number: unknown) => {
    const { status, body } = await tenant.rest.post(`${path}/rollback`, { number });
    return [status, body["error"]];
  };
  expect(await rollBack(owner, 1)).toEqual([409, "Deployment 1 is live already."]);
  expect(await rollBack(owner, 2)).toEqual([
    409,
    "Deployment 2 is `failed` and has no kept bundle. No earlier deployment has one.",
  ]);
  expect((await rollBack(owner, 9))[0]).toBe(404);
  expect((await rollBack(owner, "1"))[0]).toBe(400);
  expect((await rollBack(await harness().tenant(), 1))[0]).toBe(404);
  const { body } = await owner.rest.get(`${path}/deployments`);
  expect(body["deployments"]).toHaveLength(2);
});

/** An app whose build ends when it is stopped, or after a minute. */
const SLOW = {
  "package.json": JSON.stringify({ scripts: { build: "sleep 60" } }),
  ...siteWith("slow"),
};

verifies(
  "deployments.cancel",
  "a canceled deployment ends, the live one serves, and the one that waited starts",
  async () => {
    const { owner, url, path, repository, redeploy, get, untilStatus } = await deployedApp(
      "canceled",
      siteWith("first"),
    );
    await repository.commitFiles(SLOW);
    await redeploy();
    await untilStatus(2, "building");
    await repository.commitFiles(siteWith("third"));
    await redeploy();
    await redeploy();
    expect(await get(3)).toMatchObject({
      status: "superseded",
      status_message: "Deployment 4 replaced it before it started.",
    });
    expect(await get(4)).toMatchObject({ status: "queued" });
    const cancel = (number: number) => owner.rest.post(`${path}/deployments/${number}/cancel`, {});
    const canceled = await cancel(2);
    expect([canceled.status, canceled.body["status"]]).toEqual([200, "canceled"]);
    await untilStatus(4, "ready");
    expect(await appRequest(url)).toEqual({ status: 200, text: "third" });
    const again = await cancel(2);
    expect([again.status, again.body["error"]]).toEqual([
      409,
      "Deployment 2 is `canceled` already, so it cannot be canceled.",
    ]);
    expect((await cancel(4)).status).toBe(409);
    expect((await cancel(9)).status).toBe(404);
  },
);

test("an app whose first deployment is canceled has no resources, and a redeploy makes it live", async () => {
  const owner = await harness().tenant();
  const repository = await Repository.create(repositories(), "acme/restarted");
  await repository.commitFiles(SLOW);
  const { body } = await owner.rest.deploy({ repo: "acme/restarted" });
  const path = `/v1/apps/${String(body["app_id"])}`;
  await harness().waitForStatus(owner, String(body["app_id"]), ["building"]);
  expect((await owner.rest.post(`${path}/deployments/1/cancel`, {})).body).toMatchObject({ status: "canceled" });
  expect((await owner.rest.get(path)).body).toMatchObject({ status: "canceled", manifest: null });
  await repository.commitFiles(siteWith("restarted"));
  expect((await owner.rest.post(`${path}/deployments`, {})).status).toBe(201);
  await harness().waitForStatus(owner, String(body["app_id"]), ["ready"]);
  expect(await appRequest(String(body["url"]))).toEqual({ status: 200, text: "restarted" });
});

test("repeating a redeploy with the same Idempotency-Key returns the same deployment", async () => {
  const { owner, path, untilStatus } = await deployedApp("repeated", siteWith("first"));
  const send = (request: object) => owner.rest.post(`${path}/deployments`, request, { "idempotency-key": "k1" });
  const [first, second] = [await send({}), await send({})];
  expect([first.body["number"], second.body["id"]]).toEqual([2, first.body["id"]]);
  expect((await send({ branch: "other" })).status).toBe(422);
  await untilStatus(2, "ready");
});

test("deployments of another organization's app are not found", async () => {
  const { path } = await deployedApp("private", siteWith("first"));
  const { rest } = await harness().tenant();
  const responses = await Promise.all([
    rest.get(`${path}/deployments`),
    rest.get(`${path}/deployments/1`),
    rest.get(`${path}/deployments/1/logs`),
    rest.post(`${path}/deployments`, {}),
    rest.post(`${path}/deployments/1/cancel`, {}),
    rest.post(`${path}/rollback`, { number: 1 }),
  ]);
  expect(responses.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 404]);
});
