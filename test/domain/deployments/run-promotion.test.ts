import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { artifactBucketName } from "../../../domain/apps/app-resources.ts";
import { removeOldArtifacts } from "../../../domain/deployments/artifacts.ts";
import { Customization } from "../../../domain/deployments/customization.entity.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { runDeployment } from "../../../domain/deployments/run-deployment.ts";
import { tearDownApp } from "../../../domain/deployments/tear-down-app.ts";
import { ServerError } from "../../../domain/ports/edge-platform.ts";
import type { DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";
import { Procedure } from "../../../domain/procedures/procedure.entity.ts";
import { givenQueuedDeployment } from "../../support/builds/given-deployment.ts";
import type { ScriptedSteps } from "../../support/builds/scripted-ports.ts";
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

/** Steps that build a bundle with a page of the given text, and a migration of this name. */
const building = (text: string): ScriptedSteps => ({
  bundle: async ({ outputDirectory }) => {
    const directory = path.join(outputDirectory, "static");
    await mkdir(directory);
    await writeFile(path.join(directory, "index.html"), text);
    const assets = { directory, rules: { html_handling: "none" } as const };
    return { assets, framework: text, migrations: [{ name: `${text}.sql`, statements: ["select 1"] }] };
  },
  discover: () => ({ procedures: text === "next" ? [GREET] : [], problem: null }),
});

/** Steps that build a Node server with one layer, which stores its data in PostgreSQL or in SQLite. */
const buildingServer = (postgres: boolean): ScriptedSteps => ({
  bundle: async ({ outputDirectory }) => {
    const file = path.join(outputDirectory, "files.tar.zst");
    await writeFile(file, "the files");
    const layers = [{ digest: "d".repeat(64), path: file }];
    const database = postgres ? { postgres: { variables: {} } } : {};
    const server = { command: "node server.js", directory: ".", layers, migration: "node migrate.js", ...database };
    return { code: { runtime: "node", server } };
  },
});

/** An app with the live version "main", and its environment staging with the live version "next". */
async function givenEnvironment(steps: ScriptedSteps = building("next"), first: ScriptedSteps = building("main")) {
  const pages: string[] = [];
  const publish: ScriptedSteps["publish"] = async (_slug, { assets }) =>
    void pages.push(assets === null ? "none" : await readFile(path.join(assets.directory, "index.html"), "utf8"));
  const app = await givenQueuedDeployment(service(), { ...first, publish });
  await app.run();
  const { body: staging } = await app.tenant.rest.post(`/v1/apps/${app.appId}/environments`, { name: "staging" });
  const stagingId = String(staging["app_id"]);
  const em = () => app.ports.deps.em.fork();
  app.ports.steps = { ...steps, publish };
  const run = async (appId: string) => {
    const { latestDeploymentId } = await em().findOneOrFail(App, { id: appId });
    await runDeployment(app.ports.deps, latestDeploymentId, new AbortController().signal);
  };
  await run(stagingId);
  const promote = (id = app.appId, from = "staging") => app.tenant.rest.post(`/v1/apps/${id}/promote`, { from });
  const setVariable = async (
    appId: string,
    name: string,
    fields: { value: string; secret?: boolean; build?: boolean },
  ) => {
    const variables = em();
    service().service.parts.service.prepareVariables([{ name, ...fields }])(variables, appId);
    await variables.flush();
  };
  const stored = async (id: string) =>
    (await app.ports.deps.objects.list(artifactBucketName(id))).map(({ key }) => key);
  return { ...app, pages, stagingId, em, run, promote, setVariable, stored };
}

test("a promotion puts the bundle of the environment live with its procedures and migrations, without a build", async () => {
  const app = await givenEnvironment();
  expect(await app.promote()).toMatchObject({ status: 201 });
  await app.run(app.appId);
  expect(app.pages).toEqual(["main", "next", "next"]);
  expect([app.ports.checkouts.length, app.ports.bundled.length, app.ports.discovered.length]).toEqual([2, 2, 2]);
  expect(app.ports.migrated.at(-1)).toMatchObject({
    databaseId: `app-${app.appId}`,
    migrations: [{ name: "next.sql" }],
  });
  expect(app.ports.published.at(-1)).toMatchObject({ slug: app.slug, script: { appId: app.appId, generation: 2 } });
  const promoted = await app.find(2);
  expect(promoted).toMatchObject({ status: "ready", trigger: "promotion", artifactKey: "2.2" });
  expect(promoted.steps?.map(({ name }) => name)).toEqual(["store", "provision", "migrate", "publish"]);
  expect(await app.em().find(Procedure, { deploymentId: promoted.id })).toMatchObject([GREET]);
  expect(await app.view()).toMatchObject({ status: "ready", status_message: null, manifest: { framework: "next" } });
  expect(await app.log(2)).toMatch(/^\[service\] promoting deployment 1 of staging\n/);
});

test("a promoted bundle is a copy: rollbacks and further promotions work when the environment is gone", async () => {
  const app = await givenEnvironment();
  await app.promote();
  await app.run(app.appId);
  await app.em().nativeUpdate(App, { id: app.stagingId }, { status: "deleting" });
  await tearDownApp(app.ports.deps, app.stagingId);
  expect(await app.stored(app.stagingId)).toEqual([]);
  for (const number of [1, 2]) {
    await app.tenant.rest.post(`/v1/apps/${app.appId}/rollback`, { number });
    await app.run(app.appId);
  }
  expect(app.pages.slice(3)).toEqual(["main", "next"]);
  expect(await app.find(2)).toMatchObject({ status: "superseded", promotedFrom: "staging" });
  expect(await app.stored(app.appId)).toEqual(expect.arrayContaining(["1.1/bundle.json", "2.2/bundle.json"]));
});

test("the bundle of a promotion in progress is kept while the environment deploys, and then removed", async () => {
  const app = await givenEnvironment();
  await app.promote();
  const clean = () => removeOldArtifacts(app.ports.deps, app.stagingId);
  const { id: promotedId } = await app.em().findOneOrFail(Deployment, { appId: app.stagingId });
  const em = app.em();
  for (let number = 2; number <= 7; number++) {
    const logKey = `${app.stagingId}/${number}.log`;
    const built = {
      appId: app.stagingId,
      orgId: (await app.record()).orgId,
      number,
      trigger: "redeploy",
      logKey,
    } as const;
    const newer = em.create(Deployment, { ...built, status: "superseded", artifactKey: `${number}.${number}` });
    await em.flush();
    await em.nativeUpdate(App, { id: app.stagingId }, { liveDeploymentId: newer.id });
  }
  await clean();
  expect((await app.em().findOneOrFail(Deployment, { id: promotedId })).artifactKey).toBe("1.1");
  await app.run(app.appId);
  expect(app.pages.at(-1)).toBe("next");
  await clean();
  expect((await app.em().findOneOrFail(Deployment, { id: promotedId })).artifactKey).toBeNull();
  expect(await app.stored(app.stagingId)).toEqual([]);
});

test("a promotion whose environment is deleted meanwhile fails, and the live deployment stays", async () => {
  const app = await givenEnvironment();
  await app.promote();
  await app.em().nativeUpdate(App, { id: app.stagingId }, { status: "deleting" });
  await app.ports.deps.objects.remove(artifactBucketName(app.stagingId), "1.1/assets/0");
  await app.run(app.appId);
  const failed = { status: "failed", error: "The bundle of staging is not kept any more." };
  expect(await app.view()).toMatchObject(failed);
  await app.redeploy({
    trigger: "promotion",
    promotedFromId: (await app.find(2)).promotedFromId,
    promotedFrom: "staging",
  });
  await tearDownApp(app.ports.deps, app.stagingId);
  await app.run(app.appId);
  expect(await app.view()).toMatchObject(failed);
  expect(app.pages).toEqual(["main", "next"]);
  expect((await app.record()).liveDeploymentId).toBe((await app.find(1)).id);
  expect((await app.stored(app.appId)).filter((key) => !key.startsWith("1."))).toEqual([]);
});

test("an attempt after an internal error copies the bundle again, and leaves one copy", async () => {
  const app = await givenEnvironment();
  const { publish } = app.ports.steps;
  app.ports.steps.publish = () => {
    throw new Error("the connection broke");
  };
  await app.promote();
  await expect(app.run(app.appId)).rejects.toThrow("attempt 1");
  app.ports.steps = publish === undefined ? {} : { publish };
  await app.run(app.appId);
  expect(await app.find(2)).toMatchObject({ status: "ready", artifactKey: "2.3" });
  expect((await app.stored(app.appId)).filter((key) => key.startsWith("2."))).toEqual([
    "2.3/assets/0",
    "2.3/bundle.json",
    "2.3/script.form",
  ]);
});

test("a Node server is promoted with its layers and its migration", async () => {
  const app = await givenEnvironment(buildingServer(false), buildingServer(false));
  await app.promote();
  await app.run(app.appId);
  expect(await app.view()).toMatchObject({ status: "ready", runtime: "node" });
  expect(app.ports.published.at(-1)?.script.code).toMatchObject({ server: { migration: "node migrate.js" } });
  expect(await app.stored(app.appId)).toEqual(expect.arrayContaining([`layers/${"d".repeat(64)}/count`]));
});

test("a bundle with another kind of database is refused, and nothing is copied", async () => {
  const app = await givenEnvironment(buildingServer(true), buildingServer(false));
  await app.promote();
  await app.run(app.appId);
  expect(await app.view()).toMatchObject({
    status: "failed",
    error:
      "Deployment 1 of staging stores its data in PostgreSQL, and the live one in SQLite, so it would not find the present data.",
  });
  expect((await app.stored(app.appId)).filter((key) => key.startsWith("2."))).toEqual([]);
});

test("the status names the variables for builds that differ, without their values", async () => {
  const app = await givenEnvironment();
  await app.setVariable(app.stagingId, "API_URL", { value: "https://staging.test", build: true });
  await app.setVariable(app.appId, "API_URL", { value: "https://shop.test", build: true });
  await app.setVariable(app.appId, "SAME", { value: "1", build: true });
  await app.setVariable(app.stagingId, "SAME", { value: "1", build: true });
  await app.setVariable(app.stagingId, "LATER", { value: "1" });
  await app.promote();
  await app.run(app.appId);
  const message =
    "The bundle was built with the variables of staging, where API_URL differs. If the code contains its value, deploy the commit to this app instead.";
  expect(await app.view()).toMatchObject({ status: "ready", status_message: `The app is live. ${message}` });
  expect(await app.log(2)).toContain(`warning: ${message}`);
});

test("secrets of the environment that are in the bundle are masked in the log", async () => {
  const app = await givenEnvironment();
  await app.setVariable(app.stagingId, "BUILD_KEY", { value: "built-in-key-7", secret: true, build: true });
  app.ports.steps.publish = () => new ServerError("It responded with 500", { printed: ["uses built-in-key-7"] });
  await app.promote();
  await app.run(app.appId);
  expect(await app.log(2)).toMatch(/the app printed: uses \S+/);
  expect(await app.log(2)).not.toContain("built-in-key-7");
});

test("the changes of the app builder agent are those of the promoted deployment, also for a later deployment", async () => {
  const app = await givenEnvironment();
  const live = await app.em().findOneOrFail(Deployment, { appId: app.stagingId });
  const counts = { steps: 1, inputTokens: 1, outputTokens: 1, durationMs: 1, createdAt: new Date() };
  const changes = JSON.stringify([{ path: "a.ts", before: null, after: "2\n" }]);
  const customization = {
    deploymentId: live.id,
    appId: app.stagingId,
    instructions: ["Paint it."],
    changes,
    ...counts,
  };
  await app.em().insert(Customization, customization);
  await app.em().nativeUpdate(Deployment, { id: live.id }, { customization: "Paint it." });
  await app.promote();
  await app.run(app.appId);
  const { body } = await app.tenant.rest.get(`/v1/apps/${app.appId}/deployments/2/changes`);
  expect(body).toMatchObject({ instructions: ["Paint it."], files: [{ path: "a.ts", change: "added" }] });
  await app.tenant.rest.post(`/v1/apps/${app.appId}/deployments`, {});
  await app.run(app.appId);
  expect(await app.log(3)).toContain("applied the changes of deployment 2 to 1 file");
  expect(app.ports.customizations).toEqual([]);
  const { body: qa } = await app.tenant.rest.post(`/v1/apps/${app.appId}/environments`, { name: "qa" });
  await app.run(String(qa["app_id"]));
  expect((await app.em().findOneOrFail(Deployment, { appId: String(qa["app_id"]) })).status).toBe("ready");
  expect(app.ports.customizations).toEqual([]);
});

test("production is promoted to an environment in the same way", async () => {
  const app = await givenEnvironment();
  expect(await app.promote(app.stagingId, "production")).toMatchObject({ status: 201 });
  await app.run(app.stagingId);
  expect(app.pages.at(-1)).toBe("main");
  expect(app.ports.migrated.at(-1)?.databaseId).toBe(`app-${app.stagingId}`);
});
