import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { artifactBucketName } from "../../../domain/apps/app-resources.ts";
import { loadArtifact, storeArtifact } from "../../../domain/deployments/artifacts.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { type Given, givenDeployments } from "../../support/builds/given-deployments.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;
const never = new AbortController().signal;
const superseded: Given = { status: "superseded" };

/** The bytes of a layer in a stored bundle, which are more than one part. */
const LAYER_BYTES = 20 * 1024 * 1024;

const nodeBundle = (layers: { digest: string; path: string }[]) => ({
  code: { runtime: "node", server: { command: "node server.js", directory: "packages/api", layers } } as const,
  assets: null,
  framework: "node",
  migrations: [],
  warnings: [],
});

/** An app with deployments, and a function that stores the bundle of a Node server for one of them. */
async function givenServers(given: Given[]) {
  const app = await givenDeployments(service(), given);
  const workspace = await deps().workspaces.open(randomUUID(), 1);
  onTestFinished(() => workspace.remove());
  const bucket = artifactBucketName(app.appId);
  const store = async (number: number, digests: string[], bytes = 10) => {
    const layers = [];
    for (const digest of digests) {
      const body = Buffer.alloc(bytes, digest);
      layers.push({ digest, path: await workspace.writeOutput(`built-${number}/${digest}`, body) });
    }
    const deployment = { appId: app.appId, number, fencingToken: 1 };
    const key = await storeArtifact(deps(), deployment, { bundle: nodeBundle(layers), workspace, signal: never });
    await deps()
      .em.fork()
      .nativeUpdate(Deployment, { appId: app.appId, number, artifactKey: { $ne: null } }, { artifactKey: key });
    return { key };
  };
  const layers = async () => {
    const keys = (await deps().objects.list(bucket)).map(({ key }) => key.split("/"));
    return [...new Set(keys.filter(([folder]) => folder === "layers").map(([, digest]) => digest))];
  };
  const load = (key: string) => loadArtifact(deps(), { appId: app.appId, key }, { workspace, signal: never });
  return { ...app, bucket, store, load, layers };
}

test("the layers of a server are loaded unchanged, and a bundle without one of its layers is not", async () => {
  const app = await givenServers([{ status: "ready" }]);
  const { key } = await app.store(1, ["aaa", "bbb"], LAYER_BYTES);
  const loaded = await app.load(key);
  expect(loaded).toMatchObject({
    code: { runtime: "node", server: { command: "node server.js", directory: "packages/api" } },
    framework: "node",
  });
  if (loaded?.code.runtime !== "node") throw new Error("The bundle is not a Node server");
  for (const { digest, path: file } of loaded.code.server.layers)
    expect((await readFile(file)).equals(Buffer.alloc(LAYER_BYTES, digest))).toBe(true);
  await deps().objects.remove(app.bucket, "layers/bbb/count");
  expect(await app.load(key)).toBeNull();
});

test("deployments share the layers that they have in common, which are stored once", async () => {
  const app = await givenServers([superseded, { status: "ready" }]);
  const put = vi.spyOn(deps().objects, "put");
  onTestFinished(() => put.mockRestore());
  const { key } = await app.store(1, ["files-1", "packages"]);
  await app.store(2, ["files-2", "packages"]);
  const stored = put.mock.calls.map(([, name]) => name).filter((name) => name.startsWith("layers/packages/"));
  expect(stored).toEqual(["layers/packages/0", "layers/packages/count"]);
  await app.clean();
  expect(await app.layers()).toEqual(["files-1", "files-2", "packages"]);
  expect(await app.load(key)).toMatchObject({ code: { runtime: "node" } });
});

test("a layer is removed with the last bundle that uses it, but not while a deployment is in progress", async () => {
  const before = Array.from({ length: 5 }, () => superseded);
  const app = await givenServers([...before, { status: "ready" }, { status: "building" }]);
  await app.store(1, ["files-1", "packages"]);
  for (const number of [2, 3, 4, 5, 6]) await app.store(number, [`files-${number}`, "packages"]);
  await app.clean();
  expect(await app.layers()).toContain("files-1");
  await deps().em.fork().nativeUpdate(Deployment, { appId: app.appId, number: 7 }, { status: "failed" });
  await app.clean();
  expect(await app.layers()).toEqual(["files-2", "files-3", "files-4", "files-5", "files-6", "packages"]);
});

test("a layer of a deployment that ends while old ones are removed is kept", async () => {
  const app = await givenServers([superseded, { status: "ready" }]);
  await app.store(1, ["first"]);
  await app.store(2, ["second"]);
  await app.clean(async (bucket) => {
    const listed = await deps().objects.list(bucket);
    await app.store(3, ["third"]);
    return listed;
  });
  expect(await app.layers()).toEqual(["first", "second", "third"]);
});

test("a layer whose storage was interrupted is stored again", async () => {
  const app = await givenServers([{ status: "ready" }]);
  await deps().objects.put(app.bucket, "layers/files/0", new TextEncoder().encode("a part of it"));
  const { key } = await app.store(1, ["files"]);
  const loaded = await app.load(key);
  if (loaded?.code.runtime !== "node") throw new Error("The bundle is not a Node server");
  expect(await readFile(loaded.code.server.layers[0]!.path, "utf8")).toBe("filesfiles");
});
