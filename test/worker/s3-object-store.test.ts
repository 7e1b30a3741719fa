import { afterAll, beforeAll, expect, test } from "vitest";
import { FilesystemObjectStore } from "../../server/drivers/object-store/filesystem.ts";
import { S3ObjectStore } from "../../server/drivers/object-store/s3.ts";
import { takeOver } from "../../server/backup/take-over.ts";
import { readInstallation, writeInstallation } from "../../server/installation/installation.ts";
import { OWNER_BUCKET, ownerOfObjects } from "../../server/installation/object-owner.ts";
import { moveObjects } from "../../server/admin/move-objects.ts";
import { Repository } from "../support/builds/git-repository.ts";
import { appRequest } from "../support/edge/app-request.ts";
import { type S3Server, startMiniflareS3 } from "../support/object-store/s3-servers.ts";
import { createHarness } from "../support/service/harness.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";

let opened: S3Server | undefined;
// Before a service: it makes Miniflare start its own workerd processes in the sandbox.
beforeAll(async () => {
  opened = await startMiniflareS3();
});
afterAll(() => opened?.[Symbol.asyncDispose]());
const server = (): S3Server => opened!;

test("the sources, bundles and logs of deployments are in S3, and are removed with the app", async () => {
  await using stack = new AsyncDisposableStack();
  const repositories = stack.use(await temporaryFolder()).path;
  const settings = { ...server().settings, prefix: "installation/" };
  const config = { s3: settings, gitBaseUrl: `file://${repositories}` };
  const harness = stack.use(await createHarness({ worker: true, sharesBuilds: true, config }));
  const store = stack.use(await S3ObjectStore.open(settings));
  const whole = stack.use(await S3ObjectStore.open(server().settings));
  const owner = await harness.tenant();
  const repository = await Repository.create(repositories, "acme/stored");
  const respondingWith = (text: string) => ({
    "src/index.ts": `export default { fetch: () => new Response("${text}") };`,
  });
  await repository.commitFiles(respondingWith("first"));
  const { body } = await owner.rest.deploy({ repo: "acme/stored" });
  const id = String(body["app_id"]);
  await harness.waitForStatus(owner, id);
  await repository.commitFiles(respondingWith("second"));
  expect((await owner.rest.post(`/v1/apps/${id}/deployments`, {})).status).toBe(201);
  await harness.waitForStatus(owner, id);
  const readLive = async () => (await appRequest(String(body["url"]))).text;
  await expect.poll(readLive).toBe("second");
  expect((await owner.rest.post(`/v1/apps/${id}/rollback`, { number: 1 })).status).toBe(201);
  await expect.poll(readLive).toBe("first");
  expect((await owner.rest.get(`/v1/apps/${id}/deployments/2/logs`)).body["logs"]).toContain("[service] ready");
  expect((await store.listBuckets()).length).toBeGreaterThan(1);
  // Nothing is beside the prefix, and nothing in the data folder.
  expect(await whole.listBuckets()).toEqual(["installation"]);
  expect(await readdir(harness.dataDirectory)).not.toContain("objects");
  expect((await owner.rest.delete(`/v1/apps/${id}`)).status).toBe(200);
  await expect.poll(async () => (await owner.rest.get(`/v1/apps/${id}`)).status).toBe(404);
  expect(await store.listBuckets()).toEqual([OWNER_BUCKET]);
});

test("a service does not start on objects of another installation, or after a restored copy has taken them over", async () => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryFolder()).path;
  const s3 = { ...server().settings, prefix: "owned/" };
  const dataFolder = async (name: string) => {
    const dataDirectory = path.join(folder, name);
    await mkdir(dataDirectory);
    return { s3, cloudflare: null, databaseUrl: null, dataDirectory };
  };
  const [living, other, copy] = [await dataFolder("living"), await dataFolder("other"), await dataFolder("copy")];
  await (await createHarness({ config: living }))[Symbol.asyncDispose]();
  await expect(createHarness({ config: other })).rejects.toThrow("belong to another installation");
  await expect(takeOver(living)).resolves.toMatchObject({ epoch: 1 });
  await expect(takeOver(await dataFolder("empty"))).rejects.toThrow("has no restored copy");
  const { id, epoch } = (await readInstallation(living.dataDirectory))!;
  await writeInstallation(copy.dataDirectory, { id, epoch, state: "restored" });
  {
    await using restored = await createHarness({ config: copy });
    expect(restored.service.isRestoredCopy).toBe(true);
    await expect(takeOver(copy)).rejects.toThrow("is in use");
  }
  await (await createHarness({ config: living }))[Symbol.asyncDispose]();
  for (let count = 0; count < 2; count++) await expect(takeOver(copy)).resolves.toEqual({ installation: id, epoch: 2 });
  await expect(createHarness({ config: living })).rejects.toThrow("has taken over the objects");
  await (await createHarness({ config: copy }))[Symbol.asyncDispose]();
});

test("objects move to S3 and back, and what an earlier move has left is removed, but not what edges or others have there", async () => {
  await using stack = new AsyncDisposableStack();
  const dataDirectory = stack.use(await temporaryFolder()).path;
  const files = new FilesystemObjectStore(path.join(dataDirectory, "objects"));
  const s3 = { ...server().settings, prefix: "moved/" };
  const remote = stack.use(await S3ObjectStore.open(s3));
  const text = (value: string) => new TextEncoder().encode(value);
  for (const key of ["a", "a/b", "+c/=d é"]) await files.put("sources-1", key, text(key));
  await files.put("logs", "1.log", text("log"));
  await remote.put("sources-1", "old", text("x"));
  await remote.put("sources-2", "old", text("x"));
  await remote.put("edge", "data/db-1/v1/commit", text("x"));
  const config = { dataDirectory, s3 };
  const moved = { buckets: 2, objects: 4, bytes: 1 + 3 + 8 + 3 };
  expect(await moveObjects(config, "s3")).toEqual(moved);
  expect(await remote.listBuckets()).toEqual(["edge", "logs", "sources-1", "sources-2"]);
  expect(await remote.list("sources-1")).toEqual(await files.list("sources-1"));
  await writeInstallation(dataDirectory, { id: "one", epoch: 1, state: "active" });
  await ownerOfObjects(remote).write({ id: "one", epoch: 1 });
  expect(await moveObjects(config, "s3")).toEqual(moved);
  expect(await remote.listBuckets()).toEqual(["edge", OWNER_BUCKET, "logs", "sources-1"]);
  await remote.put("logs", "1.log", text("a longer log"));
  expect(await moveObjects(config, "filesystem")).toMatchObject({ objects: 4 });
  expect(Buffer.from((await files.get("logs", "1.log"))!).toString()).toBe("a longer log");
  expect(await files.listBuckets()).toEqual(["logs", "sources-1"]);
  await ownerOfObjects(remote).write({ id: "another", epoch: 1 });
  await expect(moveObjects(config, "s3")).rejects.toThrow("belong to another installation");
  await expect(moveObjects(config, "elsewhere")).rejects.toThrow("--to must be one of: s3, filesystem");
  await expect(moveObjects({ dataDirectory, s3: null }, "s3")).rejects.toThrow("OBJECT_STORE=s3");
  const wrongKey = { ...s3, secretAccessKey: "wrong" };
  await expect(moveObjects({ dataDirectory, s3: wrongKey }, "s3")).rejects.toThrow(
    /bucket objects at S3_ENDPOINT cannot be read/,
  );
});
