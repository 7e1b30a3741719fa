import { afterAll, beforeAll, expect, test } from "vitest";
import { Repository } from "../support/builds/git-repository.ts";
import { basicOf, type GiteaHost, giteaHost } from "../support/builds/gitea-host.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { rpcClient, rpcErrorOf } from "../support/clients/rpc-client.ts";
import { sourcesOf } from "../support/documents/knowledge-sources.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import { skillDocument, skillsOf } from "../support/service/skills.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { verifies } from "../support/verifies.ts";

const TOKEN = "private-token-5f2a";
const BASIC = basicOf(TOKEN);

const resources = new AsyncDisposableStack();
let harness: Harness;
let host: GiteaHost;
let folder: string;

beforeAll(async () => {
  ({ path: folder } = resources.use(await temporaryFolder()));
  host = resources.use(await giteaHost(folder, TOKEN));
  const config = { gitBaseUrl: "http://127.0.0.1:1", gitPrivateNetworks: ["127.0.0.1"] };
  harness = resources.use(await createHarness({ worker: true, sharesBuilds: true, config }));
  await (await Repository.create(folder, "acme/site")).commitFiles({ "index.html": "private page" });
});
afterAll(() => resources.disposeAsync());

async function connect(tenant: Tenant, fields: object = {}) {
  return tenant.rest.post("/v1/git-connections", { kind: "gitea", url: host.url, token: TOKEN, ...fields });
}

async function deployed(tenant: Tenant, request: object = {}) {
  const { status, body } = await tenant.rest.deploy({ repo: "acme/site", ...request });
  expect(status).toBe(201);
  const { body: app } = await harness.waitForStatus(tenant, String(body["app_id"]));
  const { body: log } = await tenant.rest.get(`/v1/apps/${String(body["app_id"])}/logs`);
  return { app, log: String(log["logs"]) };
}

verifies(
  "git.connections",
  "a private repository of a connected host is deployed, and its token appears nowhere",
  async () => {
    const tenant = await harness.tenant();
    const connected = await connect(tenant);
    const hostName = new URL(host.url).host;
    expect(connected).toMatchObject({ status: 201, body: { kind: "gitea", url: host.url, host: hostName } });
    const { app, log } = await deployed(tenant);
    expect(app).toMatchObject({ status: "ready", host: hostName, repo: "acme/site" });
    expect((await appRequest(String(app["url"]))).text).toBe("private page");
    const { body: list } = await tenant.rest.get("/v1/git-connections");
    const texts = [log, JSON.stringify([connected.body, app, list]), harness.logged()];
    for (const text of texts) for (const secret of [TOKEN, BASIC.slice(6)]) expect(text).not.toContain(secret);
    expect(new Set(host.authorizations)).toContain(BASIC);
  },
);

test("a deleted connection and another organization cannot read the repository", async () => {
  const [tenant, other] = [await harness.tenant(), await harness.tenant()];
  const { body } = await connect(tenant);
  const { app } = await deployed(tenant);
  const path = `/v1/git-connections/${String(body["id"])}`;
  expect((await other.rest.send("DELETE", path, {})).status).toBe(404);
  expect((await other.rest.get(`${path}/repositories`)).status).toBe(404);
  const named = await other.rest.deploy({ repo: "acme/site", host: String(body["host"]) });
  expect([named.status, named.body["error"]]).toEqual([400, expect.stringContaining("there is no git connection")]);
  expect((await deployed(other)).app).toMatchObject({ status: "failed" });
  expect((await tenant.rest.send("DELETE", path, {})).status).toBe(200);
  await tenant.rest.post(`/v1/apps/${String(app["id"])}/deployments`, {});
  const { body: after } = await harness.waitForStatus(tenant, String(app["id"]), ["failed"]);
  expect(after["error"]).toContain("has no git connection for acme/site");
  expect((await appRequest(String(app["url"]))).text).toBe("private page");
});

test("repositories and branches are listed, within the repositories of the connection", async () => {
  const tenant = await harness.tenant();
  const { body } = await connect(tenant, { repositories: "acme/site" });
  const path = `/v1/git-connections/${String(body["id"])}`;
  const repository = { default_branch: "main", is_private: true, pushed_at: "2026-11-20T10:00:00Z" };
  expect((await tenant.rest.get(`${path}/repositories`)).body).toEqual({
    repositories: [{ repo: "acme/site", ...repository }],
    next_page: null,
  });
  expect((await tenant.rest.get(`${path}/repositories?query=docs`)).body["repositories"]).toEqual([]);
  expect((await tenant.rest.get(`${path}/branches?repo=acme/site`)).body).toEqual({
    branches: ["main", "next"].map((name) => ({ name, commit: "a".repeat(40) })),
    next_page: null,
  });
  expect((await tenant.rest.get(`${path}/branches?repo=acme/none`)).status).toBe(400);
});

test("a token that the host does not accept is refused when it is saved", async () => {
  const tenant = await harness.tenant();
  for (const fields of [{ token: "wrong" }, { token: "wrong", repositories: "acme/site" }])
    expect(await connect(tenant, fields)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining("does not accept it") },
    });
  const { body } = await connect(tenant);
  expect((await connect(tenant)).status).toBe(409);
  const path = `/v1/git-connections/${String(body["id"])}`;
  const json = { headers: { "content-type": "application/json" }, body: JSON.stringify({ token: "wrong" }) };
  expect((await tenant.rest.send("PATCH", path, json)).status).toBe(400);
  expect((await deployed(tenant)).app["status"]).toBe("ready");
});

test("addresses to which the service does not connect are refused", async () => {
  const tenant = await harness.tenant();
  for (const url of ["https://10.0.0.1", "http://93.184.215.14", "file:///srv", "https://u:p@git.example.com"])
    expect((await connect(tenant, { url })).body["error"]).toMatch(/^url: must/);
  expect((await connect(tenant, { url: undefined })).body["error"]).toMatch(/^url: is required/);
});

test("a repository is deployed by its URL at the connected host, and one of an unknown host is not", async () => {
  const tenant = await harness.tenant();
  await connect(tenant);
  const rpc = rpcClient(harness.service.publicUrl, tenant.api_key);
  const { app_id: id } = await rpc.apps.deploy.mutate({ repo: `${host.url}/acme/site/src/branch/main` });
  const { body: app } = await harness.waitForStatus(tenant, id);
  expect(app).toMatchObject({ status: "ready", repo: "acme/site", branch: "main", host: new URL(host.url).host });
  const error = await rpcErrorOf(rpc.apps.deploy.mutate({ repo: "git@gitlab.example.com:acme/site.git" }));
  expect(error).toMatchObject({
    status: 400,
    message: expect.stringContaining("no git connection to gitlab.example.com"),
  });
});

test("a skill and a source of knowledge are read from a private repository, while there is a connection", async () => {
  const [tenant, other] = [await harness.tenant(), await harness.tenant()];
  const hostName = new URL(host.url).host;
  await (
    await Repository.create(folder, "acme/notes")
  ).commitFiles({
    "SKILL.md": skillDocument("notes"),
    "docs/parking.md": "# Parking\n\nParking is free.",
  });
  const { body: connection } = await connect(tenant);
  const skills = skillsOf(tenant.rest);
  expect(await skills.upload("notes", { repo: "acme/notes" })).toMatchObject({
    status: 200,
    body: { source: `${hostName}/acme/notes` },
  });
  const sources = sourcesOf(tenant);
  const source = await sources.add({ repo: "acme/notes", path: "docs", host: hostName });
  expect(source).toMatchObject({ status: "ready", document_count: 1, host: hostName });
  const refused = await skillsOf(other.rest).upload("notes", { repo: "acme/notes", host: hostName });
  expect([refused.status, refused.body["error"]]).toEqual([400, expect.stringContaining("there is no git connection")]);
  expect(await skillsOf(other.rest).upload("notes", { repo: "acme/notes" })).toMatchObject({ status: 503 });

  await tenant.rest.send("DELETE", `/v1/git-connections/${String(connection["id"])}`, {});
  expect(await sources.refresh(source)).toMatchObject({
    status: "failed",
    document_count: 1,
    error: `repo: The organization has no git connection for acme/notes at ${hostName}.`,
  });
});

test("of two hosts with a repository of the same name, the request chooses one", async () => {
  await using second = await giteaHost(folder, TOKEN);
  const tenant = await harness.tenant();
  await connect(tenant);
  await connect(tenant, { url: second.url });
  const skills = skillsOf(tenant.rest);
  await (await Repository.create(folder, "acme/tea")).commitFiles({ "SKILL.md": skillDocument("tea") });
  const ambiguous = await skills.upload("tea", { repo: "acme/tea" });
  expect([ambiguous.status, ambiguous.body["error"]]).toEqual([400, expect.stringMatching(/^host: is required/)]);
  const name = new URL(second.url).host;
  expect((await skills.upload("tea", { repo: "acme/tea", host: name })).body["source"]).toBe(`${name}/acme/tea`);
  expect(second.authorizations).toContain(BASIC);
});
