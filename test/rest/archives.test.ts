import { createHash, randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { ARCHIVE_BUCKET } from "../../domain/archives/archive-objects.ts";
import { ARCHIVE_LIMITS } from "../../domain/archives/archive-limits.ts";
import { Archive } from "../../domain/archives/archive.entity.ts";
import { removeLostArchives, removeUnusedArchives } from "../../domain/archives/remove-unused-archives.ts";
import { App } from "../../domain/apps/app.entity.ts";
import { Deployment } from "../../domain/deployments/deployment.entity.ts";
import { tarOf, tarOfFiles } from "../support/archives.ts";
import { rpcClient } from "../support/clients/rpc-client.ts";
import type { Tenant } from "../support/service/harness.ts";
import { sharedHarness } from "../support/service/shared-harness.ts";
import { uploadArchive } from "../support/service/upload-archive.ts";
import { verifies } from "../support/verifies.ts";

const service = sharedHarness();
let tenant: Tenant;

beforeAll(async () => {
  tenant = await service().tenant();
});

const em = () => service().service.parts.orm.em.fork();
const deps = () => service().service.parts.service;
const storedKeys = async (owner: Tenant) =>
  (await deps().objects.list(ARCHIVE_BUCKET)).map(({ key }) => key).filter((key) => key.startsWith(owner.org_id));
const hello = (text = "Hello") => ({ "src/index.js": `export default { fetch: () => new Response("${text}") };` });
const DAY_MS = 86_400_000;

/** Makes an archive look as if it was used this long ago. */
async function age(id: string, ms: number): Promise<void> {
  await em().nativeUpdate(Archive, { id }, { lastUsedAt: new Date(Date.now() - ms) });
}

verifies("archives.upload", "an archive is stored once, however often it is uploaded", async () => {
  const owner = await service().tenant();
  const archive = gzipSync(await tarOfFiles({ a: "1", "b/c": "22" }));
  const id = createHash("sha256").update(archive).digest("hex");
  const view = { id, size: archive.length, file_count: 2, unpacked_size: 3 };
  const responses = await Promise.all([1, 2, 3].map(() => uploadArchive(owner.rest, archive, "application/gzip")));
  expect(responses).toEqual(responses.map(() => ({ status: 201, body: view })));
  expect(await uploadArchive(owner.rest, archive, "application/octet-stream")).toEqual({ status: 201, body: view });
  expect(await storedKeys(owner)).toHaveLength(1);
  expect(await em().count(Archive, { orgId: owner.org_id })).toBe(1);
});

test("400 names the entry of an archive that cannot be unpacked, and stores nothing", async () => {
  const owner = await service().tenant();
  const hostile: [Buffer, string][] = [
    [await tarOf([{ name: "../x" }]), 'archive: "../x" has a path with `..`.'],
    [await tarOf([{ name: "l", type: "symlink", linkname: "/etc/passwd" }]), 'archive: "l" is a symbolic link that'],
    [Buffer.from("not an archive"), "archive: The archive is not a tar archive"],
    [gzipSync(await tarOfFiles({ a: "a" })).subarray(0, 50), "archive: The archive is incomplete."],
  ];
  for (const [archive, error] of hostile)
    expect(await uploadArchive(owner.rest, archive)).toEqual({
      status: 400,
      body: { error: expect.stringContaining(error) },
    });
  expect([await storedKeys(owner), await em().count(Archive, { orgId: owner.org_id })]).toEqual([[], 0]);
});

test("an upload needs the scope deploy, a media type of archives, and at most 100 MiB", async () => {
  const archive = await tarOfFiles({ a: "a" });
  expect((await uploadArchive(tenant.rest.as("svk_none"), archive)).status).toBe(401);
  expect(await uploadArchive(tenant.rest, archive, "application/json")).toMatchObject({
    status: 415,
    body: { error: expect.stringContaining("application/x-tar") },
  });
  const { body } = await tenant.rest.post("/v1/tokens", { kind: "api_key", name: "reader", scope: "read" });
  expect((await uploadArchive(tenant.rest.as(String(body["token"])), archive)).status).toBe(403);
  const large = await uploadArchive(tenant.rest, Buffer.alloc(ARCHIVE_LIMITS.bytes + 1));
  expect([large.status, large.body.error]).toEqual([413, expect.stringContaining("100 MiB")]);
});

verifies("apps.deploy.archive", "201 deploys an archive; the app has no repository and no branch", async () => {
  const { body: archive } = await uploadArchive(tenant.rest, await tarOfFiles(hello()));
  const { status, body } = await tenant.rest.deploy({ archive: archive.id, name: "Shop" });
  expect([status, body["slug"]]).toEqual([201, expect.stringMatching(/^shop-/)]);
  const app = await tenant.rest.get(`/v1/apps/${String(body["app_id"])}`);
  expect(app.body).toMatchObject({ name: "Shop", repo: null, branch: null, host: null, archive: archive.id });
  const { body: list } = await tenant.rest.get(`/v1/apps/${String(body["app_id"])}/deployments`);
  expect(list["deployments"]).toMatchObject([
    { repo: null, branch: null, archive: archive.id, commit: archive.id.slice(0, 40), trigger: "deploy" },
  ]);
});

test("inline files become an archive of the organization, and the same files the same one", async () => {
  const owner = await service().tenant();
  const files = hello("inline");
  const deployed = await owner.rest.deploy({ files });
  const again = await owner.rest.deploy({ files, name: "second" });
  const apps = [deployed, again].map(({ body }) => owner.rest.get(`/v1/apps/${String(body["app_id"])}`));
  const [first, second] = await Promise.all(apps);
  expect([first?.body["name"], second?.body["name"]]).toEqual(["app", "second"]);
  expect(second?.body["archive"]).toBe(first?.body["archive"]);
  expect(await storedKeys(owner)).toHaveLength(1);
});

const WRONG: Readonly<Record<string, [request: object, error: string]>> = {
  "no source": [{ name: "x" }, "repo: missing. Send exactly one of repo, archive and files."],
  "two sources": [{ repo: "acme/site", files: hello() }, "Send only one of repo, archive and files."],
  "a branch of files": [{ files: hello(), branch: "main" }, "branch: is of a repository."],
  "a host of an archive": [{ archive: "a".repeat(64), host: "gitlab.com" }, "host: is of a repository."],
  "an archive that does not exist": [{ archive: "a".repeat(64) }, "archive: the organization has no archive aaaa"],
  "an id of another form": [{ archive: "latest" }, "archive: must be the id of an archive: 64 hexadecimal digits"],
  "no files": [{ files: {} }, "files: must contain at least one file."],
  "too many files": [
    { files: Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`f${at}`, ""])) },
    "files: must contain at most 200 files.",
  ],
  "too large files": [{ files: { a: "x".repeat(1024 * 1024 + 1) } }, "files: must have at most 1 MiB in total."],
  "a file that is not text": [{ files: { a: 7 } }, "files"],
  "a path that leads out": [{ files: { "../a": "x" } }, 'files: "../a" has a path with `..`.'],
  "an absolute path": [{ files: { "/a": "x" } }, 'files: "/a" has an absolute path.'],
  "a file below a file": [{ files: { a: "x", "a/b": "y" } }, 'files: "a/b" is below a file'],
  "a name of two lines": [{ files: hello(), name: "a\nb" }, "name: must be one line"],
};
for (const [what, [request, error]] of Object.entries(WRONG))
  test(`400 rejects a deploy request with ${what}, says what is valid, and creates no app`, async () => {
    const owner = await service().tenant();
    const response = await owner.rest.deploy(request);
    expect([response.status, response.body["error"]]).toEqual([400, expect.stringContaining(error)]);
    expect(await em().count(App, { orgId: owner.org_id })).toBe(0);
  });

test("another organization's archive gets the same response as an archive that does not exist", async () => {
  const other = await service().tenant();
  const { body: archive } = await uploadArchive(tenant.rest, await tarOfFiles(hello("foreign")));
  const unknown = createHash("sha256").update(randomUUID()).digest("hex");
  const [foreign, missing] = [
    await other.rest.deploy({ archive: archive.id }),
    await other.rest.deploy({ archive: unknown }),
  ];
  const withoutCount = (text: unknown) => String(text).replace(/ This attempt counted.*$/, "");
  expect([foreign.status, withoutCount(foreign.body["error"]).replace(archive.id, unknown)]).toEqual([
    missing.status,
    withoutCount(missing.body["error"]),
  ]);
  // Uploading the same bytes does not tell that another organization has them.
  const { status, body } = await uploadArchive(other.rest, await tarOfFiles(hello("foreign")));
  expect([status, body]).toEqual([201, archive]);
  expect(await storedKeys(other)).toHaveLength(1);
});

test("a redeploy deploys a new archive, or the last one again", async () => {
  const owner = await service().tenant();
  const { body: first } = await uploadArchive(owner.rest, await tarOfFiles(hello("1")));
  const { body: second } = await uploadArchive(owner.rest, await tarOfFiles(hello("2")));
  const { body: app } = await owner.rest.deploy({ archive: first.id });
  const redeploy = (request: object) => owner.rest.post(`/v1/apps/${String(app["app_id"])}/deployments`, request);
  expect((await redeploy({})).body).toMatchObject({ number: 2, archive: first.id, commit: first.id.slice(0, 40) });
  expect((await redeploy({ archive: second.id })).body).toMatchObject({ number: 3, archive: second.id });
  expect((await redeploy({})).body).toMatchObject({ number: 4, archive: second.id, branch: null });
  const { body: third } = await redeploy({ files: hello("3") });
  expect(third).toMatchObject({ number: 5, archive: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect((await owner.rest.get(`/v1/apps/${String(app["app_id"])}`)).body).toMatchObject({ archive: third["archive"] });
});

test("a redeploy refuses what the source of the app does not have", async () => {
  const owner = await service().tenant();
  const repository = await service().givenApp(owner, { status: "ready" });
  const { body: app } = await owner.rest.deploy({ files: hello() });
  const redeploy = (id: unknown, request: object) => owner.rest.post(`/v1/apps/${String(id)}/deployments`, request);
  expect(await redeploy(repository.id, { files: hello() })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining("files: this app is deployed from the repository acme/") },
  });
  for (const request of [{ branch: "main" }, { commit: "a".repeat(40) }])
    expect(await redeploy(app["app_id"], request)).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining(`${Object.keys(request)[0]}: is of a repository.`) },
    });
  expect((await owner.rest.send("PATCH", `/v1/apps/${String(app["app_id"])}`, json({ branch: "main" }))).status).toBe(
    400,
  );
  expect(await redeploy(randomUUID(), { files: hello() })).toMatchObject({ status: 404 });
});

test("repeating a deploy of files with the same Idempotency-Key returns the same app", async () => {
  const headers = { "idempotency-key": randomUUID() };
  const request = { files: hello("once") };
  const [first, again] = [await tenant.rest.deploy(request, headers), await tenant.rest.deploy(request, headers)];
  expect(again.body).toEqual(first.body);
  expect((await tenant.rest.deploy({ files: hello("other") }, headers)).status).toBe(422);
});

verifies("archives.retention", "an archive that nothing needs is removed a day after its last use", async () => {
  const owner = await service().tenant();
  const upload = async (text: string) => (await uploadArchive(owner.rest, await tarOfFiles(hello(text)))).body.id;
  const [unused, recent, ofApp, inProgress, kept] = (await Promise.all(
    ["unused", "recent", "app", "progress", "kept"].map(upload),
  )) as [string, string, string, string, string];
  await owner.rest.deploy({ archive: ofApp });
  const { body: app } = await owner.rest.deploy({ archive: inProgress });
  // The app needs another one now.
  await owner.rest.post(`/v1/apps/${String(app["app_id"])}/deployments`, { archive: ofApp });
  await em().nativeUpdate(Deployment, { archiveId: inProgress }, { status: "building", finishedAt: null });
  const { body: third } = await owner.rest.deploy({ archive: kept });
  await owner.rest.post(`/v1/apps/${String(third["app_id"])}/deployments`, { archive: ofApp });
  await em().nativeUpdate(Deployment, { archiveId: kept }, { status: "superseded", artifactKey: "1.1" });
  for (const id of [unused, ofApp, inProgress, kept]) await age(id, 2 * DAY_MS);
  await age(recent, DAY_MS / 2);
  const left = async () => (await em().find(Archive, { orgId: owner.org_id })).map(({ id }) => id).toSorted();
  await removeUnusedArchives(deps());
  expect(await left()).toEqual([recent, ofApp, inProgress, kept].toSorted());
  expect(await storedKeys(owner)).toHaveLength(4);
  await em().nativeUpdate(Deployment, { archiveId: inProgress }, { status: "failed", finishedAt: new Date() });
  await em().nativeUpdate(Deployment, { archiveId: kept }, { artifactKey: null });
  await removeUnusedArchives(deps());
  expect(await left()).toEqual([recent, ofApp].toSorted());
});

test("an object that a crash has left without a record is removed, and one of an upload in progress stays", async () => {
  const owner = await service().tenant();
  const [lost, arriving] = [Date.now() - DAY_MS, Date.now()].map((at) => `${owner.org_id}/${at}-${randomUUID()}`);
  for (const key of [lost, arriving]) await deps().objects.put(ARCHIVE_BUCKET, key ?? "", Buffer.from("x"));
  await removeLostArchives(deps());
  expect(await storedKeys(owner)).toEqual([arriving]);
});

test("403 limits what the archives of an organization may take, and makes room by removing unused ones", async () => {
  const owner = await service().tenant();
  const { body: old } = await uploadArchive(owner.rest, await tarOfFiles(hello("old")));
  const nearlyFull = { size: ARCHIVE_LIMITS.organizationBytes - 1000 };
  await em().nativeUpdate(Archive, { id: old.id, orgId: owner.org_id }, nearlyFull);
  const full = await uploadArchive(owner.rest, await tarOfFiles(hello("new")));
  expect([full.status, full.body.error]).toEqual([403, expect.stringContaining("at most 2048 MiB of archives")]);
  expect(await storedKeys(owner)).toHaveLength(1);
  await age(old.id, DAY_MS / 24);
  expect((await uploadArchive(owner.rest, await tarOfFiles(hello("new")))).status).toBe(201);
  expect(await storedKeys(owner)).toHaveLength(1);
});

test("typed RPC deploys files, and has no upload of archives", async () => {
  const rpc = rpcClient(service().service.publicUrl, tenant.api_key);
  const app = await rpc.apps.deploy.mutate({ files: hello("rpc") });
  expect((await rpc.apps.get.query({ id: app.app_id })).repo).toBeNull();
  await expect(rpc.archives.upload.mutate({ file: "x" as never })).rejects.toThrow(/over REST/);
});

function json(body: object) {
  return { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
}
