import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { appIdOfResource } from "../../domain/apps/app-resources.ts";
import { GatewayClient } from "../support/clients/gateway-client.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { type GitServer, gitServer } from "../support/builds/git-server.ts";
import { givenDelivery } from "../support/builds/push-deliveries.ts";
import { createHarness, type Harness, type Tenant } from "../support/service/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { waitFor } from "../support/time-limits.ts";
import { verifies } from "../support/verifies.ts";

const resources = new AsyncDisposableStack();
let harness: Harness;
let folder: string;
let host: GitServer;

beforeAll(async () => {
  folder = resources.use(await temporaryFolder()).path;
  host = resources.use(await gitServer(folder));
  const config = { gitBaseUrl: "http://127.0.0.1:1", gitPrivateNetworks: ["127.0.0.1"] };
  harness = resources.use(await createHarness({ worker: true, sharesBuilds: true, config }));
});
afterAll(() => resources.disposeAsync());

/** An app that responds with its version, a variable, its tables and its notes. A POST adds a note. */
const notes = (version: string) => ({
  "src/index.ts": `export default { async fetch(request, { DB, GREETING }) {
    if (request.method === "POST") await DB.prepare("insert into notes values (?)").bind(await request.text()).run();
    const tables = await DB.prepare("select name from sqlite_master where type = 'table' and name in ('notes', 'tags') order by name").all();
    const { results } = await DB.prepare("select text from notes").all();
    return new Response([${JSON.stringify(version)}, GREETING, ...tables.results.map(({ name }) => name), ...results.map(({ text }) => text)].join(" "));
  } };`,
  "wrangler.json": JSON.stringify({
    name: "notes",
    main: "src/index.ts",
    compatibility_date: "2026-01-01",
    d1_databases: [{ binding: "DB", database_name: "notes", database_id: "x" }],
  }),
  "migrations/0001_notes.sql": "create table notes (text text);",
});

const withTags = { ...notes("v2"), "migrations/0002_tags.sql": "create table tags (name text);" };

/** Deploys a new repository on the git server, whose branches have these files, and creates the environment staging of `next`. */
async function givenStaging(name: string, branches: { main: Record<string, string>; next: Record<string, string> }) {
  const tenant = await harness.tenant();
  const repository = await Repository.create(folder, `acme/${name}`);
  await repository.commitFiles(branches.main);
  const commit = await repository.commitFiles(branches.next, "next");
  const connection = { kind: "git", url: host.url, token: "a-token-of-the-host" };
  expect((await tenant.rest.post("/v1/git-connections", connection)).status).toBe(201);
  const variables = [{ name: "GREETING", value: "production" }];
  const { body: app } = await tenant.rest.deploy({ repo: `acme/${name}`, variables });
  const id = String(app["app_id"]);
  await waitUntilReady(tenant, id);
  const request = { name: "staging", branch: "next", variables: [{ name: "GREETING", value: "staging" }] };
  const { status, body: staging } = await tenant.rest.post(`/v1/apps/${id}/environments`, request);
  expect(status).toBe(201);
  const stagingId = String(staging["app_id"]);
  await waitUntilReady(tenant, stagingId);
  const act = async (action: string, body: object) => {
    const response = await tenant.rest.post(`/v1/apps/${id}/${action}`, body);
    expect([response.status, response.body["error"]]).toEqual([201, null]);
    await waitUntilReady(tenant, id);
    return response.body;
  };
  const [url, stagingUrl] = [String(app["url"]), String(staging["url"])];
  return { tenant, repository, commit, id, stagingId, url, stagingUrl, path: `/v1/apps/${id}`, act };
}

async function waitUntilReady(tenant: Tenant, id: string): Promise<void> {
  const { body } = await harness.waitForStatus(tenant, id);
  expect([body["status"], body["error"]]).toEqual(["ready", null]);
}

const readText = async (url: string) => (await appRequest(url)).text;
const addNote = (url: string, body: string) => appRequest(url, { method: "POST", body });

verifies(
  ["environments.create", "environments.promote"],
  "staging has its own code, variables and data, and a promotion brings only its code to production, without a build",
  async () => {
    const { tenant, commit, id, stagingId, url, stagingUrl, path, act } = await givenStaging("shop", {
      main: notes("v1"),
      next: withTags,
    });
    await addNote(url, "sold");
    await addNote(stagingUrl, "tried");
    expect(await readText(stagingUrl)).toBe("v2 staging notes tags tried");
    expect(await readText(url)).toBe("v1 production notes sold");
    const requests = host.authorizations.length;
    await act("promote", { from: "staging", number: 1 });
    expect(await readText(url)).toBe("v2 production notes tags sold");
    expect(await readText(stagingUrl)).toBe("v2 staging notes tags tried");
    expect(host.authorizations).toHaveLength(requests);
    const { body: promoted } = await tenant.rest.get(`${path}/deployments/2`);
    const source = { trigger: "promotion", promoted_from: "staging", branch: "next", commit };
    expect(promoted).toMatchObject({ ...source, is_live: true, status_message: null });
    const steps = (promoted["steps"] as { name: string }[]).map(({ name }) => name);
    expect(steps).toEqual(["store", "provision", "migrate", "publish"]);
    const { environments } = (await tenant.rest.get(`${path}/environments`)).body;
    expect(environments).toMatchObject([
      { name: "production", branch: "main", live_commit: commit, live_deployment: 2 },
      { name: "staging", branch: "next", live_commit: commit, live_deployment: 1 },
    ]);
    await act("rollback", { number: 1 });
    expect(await readText(url)).toBe("v1 production notes tags sold");
    const refused = await tenant.rest.delete(path);
    expect([refused.status, refused.body["error"]]).toEqual([409, expect.stringContaining("staging")]);
    expect((await tenant.rest.delete(`/v1/apps/${stagingId}`)).body).toEqual({ status: "deleted" });
    expect((await tenant.rest.get(`${path}/environments`)).body["environments"]).toHaveLength(1);
    await act("rollback", { number: 2 });
    expect(await readText(url)).toBe("v2 production notes tags sold");
    expect((await tenant.rest.delete(path)).body).toEqual({ status: "deleted" });
    const buckets = await harness.service.parts.deploymentDeps.objects.listBuckets();
    expect(buckets.map(appIdOfResource).filter((owner) => owner === id || owner === stagingId)).toEqual([]);
  },
);

test("a push to the branch of an environment deploys the environment only", async () => {
  const site = (text: string) => ({ "index.html": text });
  const { tenant, url, stagingId, stagingUrl, repository } = await givenStaging("pushed", {
    main: site("main"),
    next: site("next"),
  });
  const enabled = { headers: { "content-type": "application/json" }, body: JSON.stringify({ enabled: true }) };
  const { body: push } = await tenant.rest.send("PUT", `/v1/apps/${stagingId}/push-deploy`, enabled);
  expect(push).toMatchObject({ enabled: true, branch: "next" });
  const commit = await repository.commitFiles(site("newer"), "next");
  const deliver = async (ref: string) => {
    const pushed = { repo: "acme/pushed", ref, commit, modified: ["index.html"] };
    const delivery = givenDelivery("github", String(push["secret"]), randomUUID(), pushed);
    return (await fetch(String(push["url"]), { method: "POST", ...delivery })).json();
  };
  expect(await deliver("refs/heads/main")).toMatchObject({ result: "skipped" });
  expect(await deliver("refs/heads/next")).toMatchObject({ result: "queued" });
  await waitFor(async () => expect(await readText(stagingUrl)).toBe("newer"));
  expect(await readText(url)).toBe("main");
});

test("a migration that production's data does not permit fails the promotion, and production stays as it is", async () => {
  const unique = { ...notes("v2"), "migrations/0002_unique.sql": "create unique index one on notes (text);" };
  const { tenant, url, stagingUrl, path, id } = await givenStaging("failing", { main: notes("v1"), next: unique });
  await addNote(url, "twice");
  await addNote(url, "twice");
  expect((await tenant.rest.post(`${path}/promote`, { from: "staging" })).status).toBe(201);
  const { body } = await harness.waitForStatus(tenant, id);
  expect(body).toMatchObject({ status: "failed", error: expect.stringContaining("0002_unique.sql") });
  expect(await readText(url)).toBe("v1 production notes twice twice");
  expect(await readText(stagingUrl)).toBe("v2 staging notes");
});

verifies("tool.service_promote_app", "an agent promotes a static site", async () => {
  const site = (text: string) => ({ "index.html": text, [`${text}.txt`]: text });
  const pages = await givenStaging("pages", { main: site("first"), next: site("second") });
  const gateway = new GatewayClient(harness.service.publicUrl, pages.tenant.personal_access_token);
  const { slug } = (await pages.tenant.rest.get(pages.path)).body;
  const { structuredContent } = await gateway.tool("service_promote_app", { app_id: slug, from: "staging" });
  expect(structuredContent).toEqual({ app_id: pages.id, number: 2, status: "queued" });
  await waitUntilReady(pages.tenant, pages.id);
  expect([await readText(pages.url), await readText(`${pages.url}/second.txt`)]).toEqual(["second", "second"]);
  expect((await appRequest(`${pages.url}/first.txt`)).status).toBe(404);
});

test("a Node server is promoted, and rolled back", async () => {
  const server = (text: string) => ({
    "package.json": JSON.stringify({ scripts: { start: "node server.js" } }),
    "server.js": `require("node:http").createServer((_, response) => response.end(${JSON.stringify(text)} + process.env.GREETING)).listen(process.env.PORT);`,
  });
  const node = await givenStaging("server", { main: server("v1 "), next: server("v2 ") });
  expect([await readText(node.url), await readText(node.stagingUrl)]).toEqual(["v1 production", "v2 staging"]);
  await node.act("promote", { from: "staging" });
  expect(await readText(node.url)).toBe("v2 production");
  await node.act("rollback", { number: 1 });
  expect(await readText(node.url)).toBe("v1 production");
});
