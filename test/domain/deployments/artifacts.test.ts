import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { artifactBucketName, deploymentLogKey } from "../../../domain/apps/app-resources.ts";
import type { ObjectStore } from "../../../domain/ports/object-store.ts";
import {
  loadArtifact,
  readMigrationNames,
  removeOldArtifacts,
  storeArtifact,
} from "../../../domain/deployments/artifacts.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import type { DeploymentStatus } from "../../../domain/deployments/deployment-status.ts";
import { Procedure } from "../../../domain/procedures/procedure.entity.ts";
import { replaceProcedures } from "../../../domain/procedures/replace-procedures.ts";
import { discoveredProcedure } from "../../support/edge/live-app.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { scriptPathOf } from "../../support/builds/script-path.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;

interface Given {
  status: DeploymentStatus;
  /** The number of the deployment that it rolls back to. */
  rollbackTo?: number;
}

/** Records an app with deployments, of which the last `ready` one is live, and stores a bundle for each that built one. */
async function givenDeployments(given: Given[]) {
  const { id: appId, orgId, repo, branch, latestDeploymentId } = await service().givenApp(await service().tenant());
  const ids = given.map((_, index) => (index === 0 ? latestDeploymentId : randomUUID()));
  await deps()
    .em.fork()
    .transactional(async (tx) => {
      for (const [index, { status, rollbackTo }] of given.entries()) {
        const number = index + 1;
        const hasBundle = status === "ready" || status === "superseded";
        const artifactKey = hasBundle ? String(rollbackTo ?? number) : null;
        const rollbackToId = rollbackTo === undefined ? null : (ids[rollbackTo - 1] ?? null);
        const changed = { status, artifactKey, rollbackToId };
        const source = {
          appId,
          orgId,
          repo,
          branch,
          number,
          trigger: "redeploy",
          logKey: deploymentLogKey(appId, number),
        } as const;
        if (index === 0) await tx.nativeUpdate(Deployment, { id: ids[0] }, changed);
        else tx.create(Deployment, { id: ids[index]!, ...source, ...changed });
      }
      const live = given.findLastIndex(({ status }) => status === "ready");
      await tx.flush();
      await tx.nativeUpdate(App, { id: appId }, { liveDeploymentId: ids[live] ?? null });
    });
  const bucket = artifactBucketName(appId);
  for (const [index, { rollbackTo }] of given.entries())
    if (rollbackTo === undefined) await deps().objects.put(bucket, `${index + 1}/bundle.json`, new Uint8Array());
  return {
    appId,
    orgId,
    clean: (list?: ObjectStore["list"]) =>
      removeOldArtifacts({ em: deps().em, objects: list ? withList(deps().objects, list) : deps().objects }, appId),
    stored: async () => (await deps().objects.list(bucket)).map(({ key }) => key.split("/")[0]),
    keys: async () => {
      const all = await deps()
        .em.fork()
        .find(Deployment, { appId }, { orderBy: { number: "asc" } });
      return all.map(({ artifactKey }) => artifactKey ?? null);
    },
  };
}

/** A store with another `list`. */
function withList(objects: ObjectStore, list: ObjectStore["list"]): ObjectStore {
  return new Proxy(objects, {
    get: (target, name) => (name === "list" ? list : (Reflect.get(target, name, target) as () => unknown).bind(target)),
  });
}

const superseded: Given = { status: "superseded" };

test("the bundles of the live deployment and of the four before it are kept", async () => {
  const app = await givenDeployments([...Array.from({ length: 6 }, () => superseded), { status: "ready" }]);
  await app.clean();
  expect(await app.stored()).toEqual(["3", "4", "5", "6", "7"]);
  expect(await app.keys()).toEqual([null, null, "3", "4", "5", "6", "7"]);
});

test("the bundle of a failed deployment is removed, and that of one in progress is kept", async () => {
  const app = await givenDeployments([{ status: "ready" }, { status: "failed" }, { status: "provisioning" }]);
  await app.clean();
  expect(await app.stored()).toEqual(["1", "3"]);
});

test("a bundle stays while a live rollback uses it, and while a rollback to it waits", async () => {
  const app = await givenDeployments([
    superseded,
    superseded,
    ...Array.from({ length: 5 }, () => superseded),
    { status: "ready", rollbackTo: 1 },
    { status: "queued", rollbackTo: 2 },
  ]);
  await app.clean();
  expect(await app.stored()).toEqual(["1", "2", "4", "5", "6", "7"]);
  expect(await app.keys()).toEqual(["1", "2", null, "4", "5", "6", "7", "1", null]);
});

test("a bundle that is stored while old ones are removed is kept", async () => {
  const app = await givenDeployments([superseded, { status: "ready" }]);
  const { objects, em } = deps();
  const bucket = artifactBucketName(app.appId);
  const storeThird = async () => {
    const { appId, orgId } = app;
    const source = { appId, orgId, repo: "acme/site", branch: "main", logKey: deploymentLogKey(appId, 3) };
    await em.fork().transactional(async (tx) => {
      tx.create(Deployment, { ...source, number: 3, trigger: "redeploy", status: "building" });
    });
    await objects.put(bucket, "3.5/bundle.json", new Uint8Array());
  };
  await app.clean(() => storeThird().then(() => objects.list(bucket)));
  expect(await app.stored()).toEqual(["1", "2", "3.5"]);
});

test("many rollbacks between two bundles do not keep all their deployments as targets", async () => {
  const rollbacks = Array.from({ length: 30 }, (_, index): Given => ({
    status: "superseded",
    rollbackTo: (index % 2) + 1,
  }));
  const app = await givenDeployments([superseded, superseded, ...rollbacks, { status: "ready", rollbackTo: 1 }]);
  await app.clean();
  expect(await app.stored()).toEqual(["1", "2"]);
  expect((await app.keys()).filter((key) => key !== null)).toHaveLength(21);
});

test("the procedures of a deployment are removed with its bundle, and no others", async () => {
  const deployments: Given[] = [...Array.from({ length: 5 }, () => superseded), { status: "ready" }];
  const [app, other] = [await givenDeployments(deployments), await givenDeployments([{ status: "ready" }])];
  const em = deps().em.fork();
  const all = await em.find(Deployment, { appId: { $in: [app.appId, other.appId] } });
  for (const { id: deploymentId, appId, orgId } of all)
    await em.transactional((tx) => replaceProcedures(tx, { deploymentId, appId, orgId }, [discoveredProcedure("a")]));
  await app.clean();
  const left = await em.fork().find(Procedure, { appId: { $in: [app.appId, other.appId] } });
  const removed = all.filter(({ appId, number }) => appId === app.appId && number === 1);
  const kept = all.filter((deployment) => !removed.includes(deployment));
  expect(left.map(({ deploymentId }) => deploymentId).toSorted()).toEqual(kept.map(({ id }) => id).toSorted());
});

test("the bundle of a deployment in progress is kept, whatever the length of its number", async () => {
  const app = await givenDeployments([...Array.from({ length: 11 }, () => superseded), { status: "building" }]);
  await deps().objects.put(artifactBucketName(app.appId), "12.7/script.form", new Uint8Array());
  await app.clean();
  expect(await app.stored()).toContain("12.7");
  expect(await app.stored()).not.toContain("1");
});

test("nothing is removed for an app that is gone, and it has no migrations", async () => {
  const appId = randomUUID();
  await expect(removeOldArtifacts(deps(), appId)).resolves.toBeUndefined();
  for (const key of [null, "1.1"]) expect(await readMigrationNames(deps(), { appId, key })).toEqual([]);
});

/** A bundle in an own workspace, which is removed after the test. */
async function givenBundle(assets: Record<string, string> | null) {
  const workspace = await deps().workspaces.open(randomUUID(), 1);
  onTestFinished(() => workspace.remove());
  const scriptPath = await workspace.writeOutput("script.form", new TextEncoder().encode("script"));
  for (const [file, text] of Object.entries(assets ?? {}))
    await workspace.writeOutput(`assets/${file}`, new TextEncoder().encode(text));
  const directory = await workspace.createOutputFolder("assets");
  const folder = assets === null ? null : { directory, rules: {} };
  return {
    workspace,
    bundle: {
      code: { runtime: "worker", scriptPath } as const,
      assets: folder,
      framework: "hono",
      migrations: [],
      warnings: ["old"],
    },
  };
}

const never = new AbortController().signal;

test("a bundle without static files is stored and loaded without its warnings, and two fit into one workspace", async () => {
  const appId = randomUUID();
  const { workspace, bundle } = await givenBundle(null);
  const store = (number: number) =>
    storeArtifact(deps(), { appId, number, fencingToken: 1 }, { bundle, workspace, signal: never });
  const load = (key: string) => loadArtifact(deps(), { appId, key }, { workspace, signal: never });
  const [first, second] = [await load(await store(1)), await load(await store(2))];
  expect(first).toEqual({
    code: { runtime: "worker", scriptPath: expect.any(String) },
    assets: null,
    framework: "hono",
    migrations: [],
    warnings: [],
  });
  expect(first?.code).not.toEqual(second?.code);
  expect(await readFile(first === null ? "" : scriptPathOf(first), "utf8")).toBe("script");
  await deps().objects.remove(artifactBucketName(appId), "1.1/bundle.json");
  expect(await load("1.1")).toBeNull();
});

test("storing and loading static files stops when the deployment is stopped", async () => {
  const appId = randomUUID();
  const { workspace, bundle } = await givenBundle({ "index.html": "page" });
  const stopped = AbortSignal.abort(new Error("stopped"));
  const store = (signal: AbortSignal) =>
    storeArtifact(deps(), { appId, number: 1, fencingToken: 1 }, { bundle, workspace, signal });
  await expect(store(stopped)).rejects.toThrow("stopped");
  const key = await store(never);
  const load = (signal: AbortSignal) => loadArtifact(deps(), { appId, key }, { workspace, signal });
  await expect(load(stopped)).rejects.toThrow("stopped");
  expect(await load(never)).toMatchObject({ warnings: [], framework: "hono" });
});

test("a bundle with the longest possible file names is stored and loaded unchanged", async () => {
  const { appId } = await givenDeployments([{ status: "ready" }]);
  const signal = new AbortController().signal;
  const built = await deps().workspaces.open(randomUUID(), 1);
  const loaded = await deps().workspaces.open(randomUUID(), 1);
  try {
    const file = path.join(...Array.from({ length: 4 }, () => "d".repeat(255)), "f".repeat(255));
    const bytes = new TextEncoder().encode("content");
    const scriptPath = await built.writeOutput("script.form", bytes);
    await built.writeOutput(`assets/${file}`, bytes);
    const assets = { directory: await built.createOutputFolder("assets"), rules: {} };
    const bundle = {
      code: { runtime: "worker", scriptPath } as const,
      assets,
      framework: null,
      migrations: [],
      warnings: [],
    };
    const deployment = { appId, number: 2, fencingToken: 7 };
    const key = await storeArtifact(deps(), deployment, { bundle, workspace: built, signal });
    const restored = await loadArtifact(deps(), { appId, key }, { workspace: loaded, signal });
    expect(await readFile(path.join(restored?.assets?.directory ?? "", file), "utf8")).toBe("content");
    await deps().objects.remove(artifactBucketName(appId), `${key}/assets/0`);
    expect(await loadArtifact(deps(), { appId, key }, { workspace: loaded, signal })).toBeNull();
  } finally {
    for (const workspace of [built, loaded]) await workspace.remove();
  }
});

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
  const app = await givenDeployments(given);
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
