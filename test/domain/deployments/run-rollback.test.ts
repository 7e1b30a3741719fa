import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { artifactBucketName } from "../../../domain/apps/app-resources.ts";
import type { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { UnreadableVariable } from "../../../domain/ports/app-variables.ts";
import type { DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";
import { Procedure } from "../../../domain/procedures/procedure.entity.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { givenQueuedDeployment } from "../../support/builds/given-deployment.ts";
import type { ScriptedSteps } from "../../support/builds/scripted-ports.ts";
import { failing } from "../../support/edge/platform-resources.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

const GREET: DiscoveredProcedure = {
  name: "greet",
  kind: "query",
  description: "Says hello.",
  inputSchema: { type: "object" },
  outputSchema: { type: "string" },
  invocation: { via: "trpc", endpoint: "/trpc", transformer: "none" },
};

const migration = (name: string) => ({ name, statements: ["select 1"] });

/** Steps that build a bundle with a page of the given text. */
const building = (text: string, migrations: string[] = [], framework: string | null = null): ScriptedSteps => ({
  bundle: async ({ outputDirectory }) => {
    const directory = path.join(outputDirectory, "static");
    await mkdir(directory);
    await writeFile(path.join(directory, "index.html"), text);
    const assets = { directory, rules: { html_handling: "none" } as const };
    return { assets, framework, migrations: migrations.map(migration) };
  },
  discover: () => ({ procedures: text === "first" ? [GREET] : [], problem: null }),
});

/** Builds a Node server with one layer. */
const buildServer: ScriptedSteps["bundle"] = async ({ outputDirectory }) => {
  const file = path.join(outputDirectory, "files.tar.zst");
  await writeFile(file, "the files");
  const layers = [{ digest: "d".repeat(64), path: file }];
  return { code: { runtime: "node", server: { command: "node server.js", directory: ".", layers } } };
};

/** An app whose second deployment is live. Publishing records the text of its page. */
async function givenTwoDeployments() {
  const pages: string[] = [];
  const publish: ScriptedSteps["publish"] = async (_slug, { assets }) =>
    void pages.push(await readFile(path.join(assets?.directory ?? "", "index.html"), "utf8"));
  const app = await givenQueuedDeployment(service(), { ...building("first", ["1.sql"], "hono"), publish });
  await app.run();
  app.ports.steps = { ...building("second", ["1.sql", "2.sql", "3.sql"]), publish };
  await app.redeploy();
  await app.run();
  const rollBack = async (changes: Partial<Deployment> = {}) =>
    app.redeploy({ trigger: "rollback", rollbackToId: (await app.find(1)).id, ...changes });
  return { ...app, pages, rollBack };
}

test("a rollback puts the earlier bundle live with its procedures and framework, without a build or a migration", async () => {
  const app = await givenTwoDeployments();
  await app.rollBack();
  await app.run();
  expect(app.pages).toEqual(["first", "second", "first"]);
  expect([app.ports.checkouts.length, app.ports.bundled.length, app.ports.migrated.length]).toEqual([2, 2, 2]);
  const { id, artifactKey } = await app.find(3);
  expect(artifactKey).toBe("1.1");
  const stored = await app.ports.deps.em.fork().find(Procedure, { deploymentId: id });
  expect(stored).toMatchObject([GREET]);
  expect(await app.view()).toMatchObject({
    status: "ready",
    manifest: { framework: "hono" },
    status_message: "The app is live. The SQL database keeps the later migrations 2.sql, 3.sql.",
  });
  const log = await app.log(3);
  expect(log).toMatch(/^\[service\] rolling back to deployment 1\n/);
  expect(log).toContain("[service] The SQL database keeps the later migrations 2.sql, 3.sql.\n");
  expect(app.ports.published.at(-1)?.script).toMatchObject({
    generation: 3,
    assets: { rules: { html_handling: "none" } },
  });
});

test("rollbacks between a Worker and a Node server work, and the app shows how its live version runs", async () => {
  const layers: string[] = [];
  const publish: ScriptedSteps["publish"] = async (_slug, { code }) => {
    if (code.runtime === "node") layers.push(await readFile(code.server.layers[0]?.path ?? "", "utf8"));
    shown.push((await app.view())["runtime"]);
  };
  const shown: unknown[] = [];
  const app = await givenQueuedDeployment(service(), { publish });
  expect([await app.view(), await app.find()]).toMatchObject([{ runtime: null }, { runtime: null }]);
  await app.run();
  app.ports.steps = { publish, bundle: buildServer };
  await app.redeploy();
  await app.run();
  for (const [number, target] of [
    [3, 1],
    [4, 2],
  ] as const) {
    await app.redeploy({ trigger: "rollback", rollbackToId: (await app.find(target)).id });
    await app.run();
    const { runtime } = await app.find(target);
    expect([await app.view(), await app.find(number)]).toMatchObject([{ status: "ready", runtime }, { runtime }]);
  }
  const { apps } = (await app.tenant.rest.get("/v1/apps")).body;
  expect(apps).toMatchObject([{ runtime: "node" }]);
  // The first version is shown when it is built, each later one when it is live.
  expect(shown).toEqual(["worker", "worker", "node", "worker"]);
  expect(layers).toEqual(["the files", "the files"]);
  expect(app.ports.published.map(({ text }) => text)).toEqual(["script", "node server.js", "script", "node server.js"]);
});

test("a rollback to a deployment with the same migrations has no problem", async () => {
  const app = await givenTwoDeployments();
  await app.rollBack({ rollbackToId: (await app.find(2)).id });
  await app.run();
  expect(await app.view()).toMatchObject({ status: "ready", status_message: null });
  expect(app.pages.at(-1)).toBe("second");
});

test("a rollback to a bundle that is removed meanwhile fails, and the live deployment stays", async () => {
  const app = await givenTwoDeployments();
  const bucket = artifactBucketName(app.appId);
  await app.ports.deps.objects.remove(bucket, "1.1/script.form");
  await app.rollBack();
  await app.run();
  const failed = {
    status: "failed",
    error: "The bundle of deployment 1 is not kept any more.",
    status_message: "Deploy its commit again, or roll back to a newer deployment.",
  };
  expect(await app.view()).toMatchObject(failed);
  await app.update({ artifactKey: null });
  await app.rollBack();
  await app.run();
  expect(await app.view()).toMatchObject(failed);
  expect(app.pages).toEqual(["first", "second"]);
  expect((await app.record()).liveDeploymentId).toBe((await app.find(2)).id);
});

const userFailure = (): never => {
  throw new BuildFailure("user", "The branch does not exist.", "Correct it.");
};

/** Steps of a redeploy whose first attempt switches to the new script and then has an internal error. */
async function givenSwitchedRedeploy() {
  const app = await givenTwoDeployments();
  const { publish } = app.ports.steps;
  app.ports.steps = {
    ...building("third"),
    publish: async (...args) => {
      await publish?.(...args);
      throw new Error("the connection broke");
    },
  };
  await app.redeploy();
  await expect(app.run()).rejects.toThrow("attempt 1");
  app.ports.steps = { checkOut: userFailure, ...(publish === undefined ? {} : { publish }) };
  return app;
}

test("a deployment that fails after an attempt has switched to its script puts the live one back, once", async () => {
  const app = await givenSwitchedRedeploy();
  await app.run();
  expect(app.pages).toEqual(["first", "second", "third", "second"]);
  expect(await app.log(3)).toContain("[service] putting deployment 2 live again\n");
  expect([(await app.find(2)).status, (await app.find(3)).status]).toEqual(["ready", "failed"]);
  expect([(await app.find(1)).fencingToken, (await app.find(2)).fencingToken]).toEqual([1, 4]);
  await app.redeploy();
  await app.run();
  expect(app.pages).toHaveLength(4);
  expect(await app.log(4)).not.toContain("live again");
});

test("a deployment whose live bundle is gone still fails, and the operator learns of it", async () => {
  const app = await givenSwitchedRedeploy();
  await app.ports.deps.objects.removeBucket(artifactBucketName(app.appId));
  await app.run();
  expect((await app.find(3)).status).toBe("failed");
  expect(await app.log(3)).toContain("[service] deployment 2 could not be put live again: Its bundle is not kept.\n");
  expect(app.ports.internalErrors.at(-1)?.error).toBeInstanceOf(BuildFailure);
});

test("a deployment ends even if the live script cannot be put back because of a variable", async () => {
  const app = await givenSwitchedRedeploy();
  const publish = () => Promise.reject(new UnreadableVariable("API_KEY"));
  await app.run(undefined, { ...app.ports.deps, edge: { ...app.ports.deps.edge, publish } });
  expect((await app.find(3)).status).toBe("failed");
  expect(await app.log(3)).toContain('could not be put live again: The variable "API_KEY" cannot be decrypted');
});

test("an error of the platform while the live script is put back is thrown, so that the queue repeats the deployment", async () => {
  const app = await givenSwitchedRedeploy();
  const faulty = { ...app.ports.deps, edge: failing(app.ports.deps.edge, "publish", 1) };
  await expect(app.run(undefined, faulty)).rejects.toThrow("500");
  expect((await app.find(3)).status).toBe("cloning");
});

test("a first deployment that fails after an attempt has switched to its script leaves no script", async () => {
  const app = await givenQueuedDeployment(service(), {
    publish: () => {
      throw new Error("the connection broke");
    },
  });
  await expect(app.run()).rejects.toThrow("attempt 1");
  app.ports.steps = { checkOut: userFailure };
  await app.run();
  expect((await app.view())["error"]).toBe("The branch does not exist.");
  expect(await app.ports.deps.edge.liveGeneration(app.slug)).toBeNull();
});

test("a worker that has lost its lease puts no script back", async () => {
  const app = await givenSwitchedRedeploy();
  app.ports.steps.checkOut = async () => {
    await app.ports.deps.em.fork().nativeUpdate(App, { id: app.appId }, { fencingToken: 9 });
    userFailure();
  };
  await app.run();
  expect(app.pages).toEqual(["first", "second", "third"]);
});

test("an app whose script is not served, and one that was never live, get no script back", async () => {
  const app = await givenTwoDeployments();
  await app.ports.deps.edge.unpublish(app.slug);
  app.ports.steps = { checkOut: userFailure };
  await app.redeploy();
  await app.run();
  expect(app.pages).toHaveLength(2);
  const never = await givenQueuedDeployment(service(), { checkOut: userFailure });
  await never.run();
  expect([never.ports.published, never.ports.internalErrors]).toEqual([[], []]);
});
