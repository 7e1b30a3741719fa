import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { artifactBucketName, deploymentLogKey } from "../../../domain/apps/app-resources.ts";
import {
  loadArtifact,
  readDatabaseUse,
  removeOldArtifacts,
  storeArtifact,
} from "../../../domain/deployments/artifacts.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { Procedure } from "../../../domain/procedures/procedure.entity.ts";
import { replaceProcedures } from "../../../domain/procedures/replace-procedures.ts";
import { discoveredProcedure } from "../../support/edge/live-app.ts";
import { type Given, givenDeployments as givenIn } from "../../support/builds/given-deployments.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";
import { scriptPathOf } from "../../support/builds/script-path.ts";

const service = sharedHarness();
const deps = () => service().service.parts.deploymentDeps;
const givenDeployments = (given: Given[]) => givenIn(service(), given);

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
  for (const key of [null, "1.1"]) expect(await readDatabaseUse(deps(), { appId, key })).toBeNull();
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
