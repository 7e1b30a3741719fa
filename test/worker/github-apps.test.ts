import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openAccess } from "../../domain/git-connections/open-access.ts";
import { GitConnection } from "../../domain/git-connections/git-connection.entity.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { APP_ID, type GitHubHost, githubHost, INSTALLATION_ID } from "../support/builds/github-host.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { verifies } from "../support/verifies.ts";

const resources = new AsyncDisposableStack();
let harness: Harness;
let host: GitHubHost;

beforeAll(async () => {
  const { path: folder } = resources.use(await temporaryFolder());
  host = resources.use(await githubHost(folder));
  const config = { gitBaseUrl: "http://127.0.0.1:1", gitPrivateNetworks: ["127.0.0.1"] };
  harness = resources.use(await createHarness({ worker: true, sharesBuilds: true, config }));
  await (await Repository.create(folder, "acme/site")).commitFiles({ "index.html": "page of an app" });
  await (await Repository.create(folder, "acme/hidden")).commitFiles({ "index.html": "hidden" });
});
beforeEach(() => {
  [host.state, host.lifetimeMs] = ["installed", 3_600_000];
});
afterAll(() => resources.disposeAsync());

function connect(tenant: Tenant, fields: object = {}) {
  const app = { kind: "github_app", url: host.url, github_app_id: APP_ID, private_key: host.privateKey };
  return tenant.rest.post("/v1/git-connections", { ...app, ...fields });
}

async function deployed(tenant: Tenant, repo = "acme/site") {
  const { status, body } = await tenant.rest.deploy({ repo, host: new URL(host.url).host });
  expect([status, body["error"]]).toEqual([201, undefined]);
  return (await harness.waitForStatus(tenant, String(body["app_id"]))).body;
}

function replaceKey(tenant: Tenant, { id }: { id?: unknown }, body: object) {
  const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return tenant.rest.send("PATCH", `/v1/git-connections/${String(id)}`, json);
}

verifies("git.apps", "a repository is deployed by a GitHub App, with a token for this repository only", async () => {
  const tenant = await harness.tenant();
  const connected = await connect(tenant);
  expect(connected).toMatchObject({
    status: 201,
    body: { kind: "github_app", repositories: "acme", github_app_id: APP_ID, installation_id: INSTALLATION_ID },
  });
  const app = await deployed(tenant);
  expect(app).toMatchObject({ status: "ready" });
  expect((await appRequest(String(app["url"]))).text).toBe("page of an app");
  const ofRepository = host.issued.filter(({ repositories }) => repositories !== null);
  expect(ofRepository).toMatchObject([{ repositories: ["site"], permissions: { contents: "read" } }]);
  const { body: logs } = await tenant.rest.get(`/v1/apps/${String(app["id"])}/logs`);
  const { body: list } = await tenant.rest.get("/v1/git-connections");
  const keyLine = host.privateKey.split("\n")[2] ?? "";
  for (const text of [JSON.stringify([connected.body, app, logs, list]), harness.logged()])
    for (const secret of [keyLine, "ghs_", ...host.issued.map(({ token }) => token)])
      expect(text).not.toContain(secret);
});

test("the installation is found by its id, by the owner, by the repository, and as the only one", async () => {
  for (const fields of [
    { installation_id: INSTALLATION_ID },
    { repositories: "acme" },
    { repositories: "acme/site" },
    {},
  ])
    expect(await connect(await harness.tenant(), fields)).toMatchObject({
      status: 201,
      body: { installation_id: INSTALLATION_ID, repositories: "acme", ...fields },
    });
  const tenant = await harness.tenant();
  expect((await connect(tenant, { installation_id: 9 })).body["error"]).toBe(
    `installation_id: the app ${APP_ID} is not installed with the id 9. Install it first.`,
  );
  expect((await connect(tenant, { repositories: "other" })).body["error"]).toContain("is not installed for other.");
});

test("the private key can be in PKCS#1 or PKCS#8, and other texts and keys are refused when they are saved", async () => {
  const tenant = await harness.tenant();
  const pkcs8 = createPrivateKey(host.privateKey).export({ type: "pkcs8", format: "pem" }).toString();
  const connected = await connect(tenant, { private_key: pkcs8.replaceAll("\n", "\\n") });
  expect([connected.status, connected.body]).toEqual([201, expect.anything()]);
  const other = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const foreign = other.export({ type: "pkcs1", format: "pem" }).toString();
  const elliptic = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
  for (const key of [
    "",
    "key",
    elliptic.export({ type: "pkcs8", format: "pem" }),
    weak.export({ type: "pkcs1", format: "pem" }),
  ]) {
    const refused = await replaceKey(tenant, connected.body, { private_key: key });
    expect([refused.status, refused.body["error"]]).toEqual([
      400,
      expect.stringMatching(/^private_key: must be the text/),
    ]);
  }
  for (const refused of [
    await replaceKey(tenant, connected.body, { private_key: foreign }),
    await connect(await harness.tenant(), { private_key: foreign }),
    await connect(await harness.tenant(), { github_app_id: "1" }),
  ])
    expect([refused.status, refused.body["error"]]).toEqual([
      400,
      expect.stringMatching(/^private_key: .* does not accept/),
    ]);
  expect((await replaceKey(tenant, connected.body, { token: "x" })).body["error"]).toMatch(/^token: the kind/);
  expect((await connect(tenant, { kind: "github", token: "x", private_key: undefined })).body["error"]).toMatch(
    /^github_app_id: /,
  );
  expect(harness.logged()).not.toContain("PRIVATE KEY");
});

test("a repository that the installation lacks, and all of them after it is suspended or deleted, look as if they did not exist", async () => {
  const tenant = await harness.tenant();
  await connect(tenant);
  const failed = { status: "failed", error: "The repository does not exist, or the service cannot read it." };
  expect(await deployed(tenant, "acme/hidden")).toMatchObject({
    ...failed,
    status_message: expect.stringContaining("GitHub App of the git connection is installed"),
  });
  host.state = "suspended";
  expect(await deployed(tenant)).toMatchObject(failed);
  expect((await connect(await harness.tenant())).body["error"]).toMatch(
    /^installation_id: acme has suspended the app\./,
  );
  host.state = "deleted";
  expect(await deployed(tenant)).toMatchObject(failed);
  expect((await connect(await harness.tenant())).body["error"]).toContain("is not installed for any account.");
});

test("repositories and branches of the installation are listed", async () => {
  const tenant = await harness.tenant();
  const { body } = await connect(tenant);
  const path = `/v1/git-connections/${String(body["id"])}`;
  const names = async (query: string) => {
    const { body: page } = await tenant.rest.get(`${path}/repositories${query}`);
    return (page["repositories"] as { repo: string }[]).map(({ repo }) => repo);
  };
  expect([await names(""), await names("?query=DOC")]).toEqual([["acme/site", "acme/docs"], ["acme/docs"]]);
  expect((await tenant.rest.get(`${path}/branches?repo=acme/site`)).body).toEqual({
    branches: [{ name: "main", commit: "b".repeat(40) }],
    next_page: null,
  });
  expect((await tenant.rest.get(`${path}/branches?repo=acme/hidden`)).status).toBe(400);
});

test("a token is used until shortly before its end, and only for what it was issued for, by who has the key", async () => {
  const tenant = await harness.tenant();
  await connect(tenant);
  const connection = await harness.service.parts.orm.em.fork().findOneOrFail(GitConnection, { orgId: tenant.org_id });
  const { service } = harness.service.parts;
  const open = (permissions?: { contents: "read"; statuses: "write" }) =>
    openAccess(service, connection, { repo: "acme/docs", ...(permissions !== undefined && { permissions }) });
  const before = host.issued.length;
  const [first, second] = await Promise.all([open(), open()]);
  expect([second, await open()]).toEqual([first, first]);
  expect(host.issued).toHaveLength(before + 1);
  const status = await open({ contents: "read", statuses: "write" });
  expect(status.apiAuthorization).toBe(`Bearer ${host.issued.at(-1)?.token ?? ""}`);
  expect(host.issued.at(-1)).toMatchObject({
    repositories: ["docs"],
    permissions: { contents: "read", statuses: "write" },
  });
  const app = { url: host.url, appId: APP_ID, installationId: INSTALLATION_ID };
  const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const privateKey = foreign.export({ type: "pkcs8", format: "pem" }).toString();
  await expect(service.gitHosts.issueToken({ ...app, privateKey }, "acme/docs", { contents: "read" })).rejects.toThrow(
    "git host: refused",
  );
  host.lifetimeMs = 5 * 60_000;
  const issued = host.issued.length;
  const short = { ...app, privateKey: host.privateKey };
  for (let call = 0; call < 2; call++) await service.gitHosts.issueToken(short, "acme/docs", { statuses: "write" });
  expect(host.issued).toHaveLength(issued + 2);
});
