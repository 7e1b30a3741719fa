import { writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { artifactBucketName, sourceBucketName } from "../../../domain/apps/app-resources.ts";
import { RetryDeployment } from "../../../domain/deployments/run-deployment.ts";
import { givenQueuedDeployment } from "../../support/builds/given-deployment.ts";
import { COMMIT, type ScriptedSteps } from "../../support/builds/scripted-ports.ts";
import { failing } from "../../support/edge/platform-resources.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const given = (steps?: ScriptedSteps) => givenQueuedDeployment(service(), steps);
const objects = () => service().service.parts.deploymentDeps.objects;

test("each step shows a status, a message and the resources so far", async () => {
  const shown: unknown[] = [];
  const show = async () => {
    const { status, status_message, manifest } = await app.view();
    shown.push([status, status_message, manifest]);
  };
  const app = await given({
    checkOut: show,
    customize: show,
    bundle: () => show().then(() => ({})),
    publish: show,
  });
  await app.update({ customization: "make it blue" });
  await app.run();
  const bucket = { object_bucket_name: `app-${app.appId}` };
  expect(shown).toEqual([
    ["cloning", "Cloning acme/demo (main).", null],
    ["customizing", "The app builder agent is customizing the source.", null],
    ["building", "Installing and building.", bucket],
    ["provisioning", "Creating the app's resources.", { ...bucket, sql_database_id: `app-${app.appId}` }],
  ]);
  expect((await app.log()).split("\n").slice(0, 2)).toEqual([
    "[service] cloning acme/demo, branch main",
    "[service] customizing",
  ]);
  expect(await app.log()).toContain("[service] provisioning\n");
  expect(app.ports.createdDatabases).toEqual([`app-${app.appId}`]);
});

test("a deployment checks out the newest commit of the branch into the workspace, and records it", async () => {
  const app = await given({ checkOut: ({ onOutput }) => onOutput(new TextEncoder().encode("fetched\n")) });
  await app.update({ branchIsDefault: true });
  await app.run();
  const [checkout] = app.ports.checkouts;
  expect(checkout).toMatchObject({ repo: "acme/demo", branch: "main", orDefaultBranch: true, commit: null });
  expect(app.ports.bundled[0]?.sourceDirectory).toBe(checkout?.directory);
  expect((await app.find()).commit).toBe(COMMIT);
  expect(await app.log()).toContain("fetched\n");
});

test("the app and the deployment show the default branch that was used, and what the checkout lacks", async () => {
  const warning = "Git LFS is not supported: logo.png has only the text of an LFS pointer.";
  const app = await given({ checkOut: () => ({ branch: "trunk", warnings: [warning] }) });
  await app.update({ branchIsDefault: true });
  await app.run();
  expect([(await app.find()).branch, (await app.view())["branch"]]).toEqual(["trunk", "trunk"]);
  expect((await app.view())["status_message"]).toBe(`The app is live. ${warning}`);
  expect(await app.log()).toContain(`[service] warning: ${warning}\n`);
});

test("the commit and the folder of a deployment are recorded for no other deployment", async () => {
  const other = await given();
  const app = await given({ bundle: () => ({ rootDirectory: "apps/web" }) });
  await app.run();
  expect([(await other.find()).commit, (await other.find()).rootDirectory]).toEqual([null, null]);
});

test("a deployment of a commit checks out this commit, and the log and the message name it", async () => {
  let message: unknown;
  const app = await given({ checkOut: async () => void (message = (await app.view())["status_message"]) });
  await app.update({ requestedCommit: "abc123" });
  await app.run();
  expect(app.ports.checkouts).toMatchObject([{ commit: "abc123", orDefaultBranch: false }]);
  expect(message).toBe("Cloning acme/demo (abc123).");
  expect(await app.log()).toMatch(/^\[service\] cloning acme\/demo, commit abc123\n/);
});

test("the app builder gets the customization and the source, and a service without one fails the deployment", async () => {
  const app = await given({ customize: ({ say }) => say("painted") });
  await app.update({ customization: "make it blue" });
  await app.run();
  expect(app.ports.customizations).toMatchObject([{ instructions: ["make it blue"], conflicts: [] }]);
  expect(await app.log()).toContain("[service] painted\n");
  await app.redeploy({ customization: "make it red" });
  await app.run(undefined, { ...app.ports.deps, appBuilder: null });
  expect(await app.view()).toMatchObject({
    status: "failed",
    error: "This deployment needs the app builder agent, and the service has no language model.",
    status_message: "Ask the operator to configure one (MODEL_PROVIDER), or deploy again with customization null.",
  });
  expect(app.ports.bundled).toHaveLength(1);
});

test("a deployment without a customization does not start the app builder", async () => {
  const app = await given();
  await app.run();
  expect([app.ports.customizations, (await app.view())["status"]]).toEqual([[], "ready"]);
});

test("the bundler gets the organization, the variables for builds, the folder, the network and the runtime of the deployment", async () => {
  const app = await given({
    bundle: ({ onOutput }) => {
      onOutput(new TextEncoder().encode("built\n"));
      return { rootDirectory: "apps/web" };
    },
  });
  await app.setVariable("MODE", { value: "fast", build: true });
  await app.setVariable("OTHER", { value: "runtime" });
  await app.update({ buildNetwork: true, requestedRuntime: "node" });
  await app.run();
  expect(app.ports.bundled).toMatchObject([
    {
      organizationId: app.tenant.org_id,
      variables: { MODE: "fast" },
      rootDirectory: null,
      network: true,
      runtime: "node",
    },
  ]);
  expect(await app.log()).toContain("built\n");
  expect((await app.view())["status_message"]).toBeNull();
});

test("the folder that the build found is recorded, unless it is the whole source or the deployment names one", async () => {
  const app = await given({ bundle: () => ({ rootDirectory: "apps/web" }) });
  await app.run();
  expect((await app.find()).rootDirectory).toBe("apps/web");
  expect(app.ports.discovered[0]?.sourceDirectory).toBe(path.join(app.ports.checkouts[0]?.directory ?? "", "apps/web"));
  await app.redeploy({ rootDirectory: "apps/api" });
  await app.run();
  expect((await app.find(2)).rootDirectory).toBe("apps/api");
  expect(app.ports.bundled[1]?.rootDirectory).toBe("apps/api");
  app.ports.steps = {};
  await app.redeploy();
  await app.run();
  expect((await app.find(3)).rootDirectory).toBeNull();
});

test("the sources are stored as they were before the build, instead of those of the earlier deployment", async () => {
  const app = await given({
    bundle: async ({ sourceDirectory }) => {
      await writeFile(path.join(sourceDirectory, "generated.js"), "generated");
      return {};
    },
  });
  await objects().put(sourceBucketName(app.appId), "removed.ts", new Uint8Array());
  await app.run();
  expect(await objects().list(sourceBucketName(app.appId))).toEqual([{ key: "index.ts", size: "source".length }]);
});

test("while sources are stored, those of the earlier deployment that stay are present", async () => {
  const app = await given();
  const bucket = sourceBucketName(app.appId);
  for (const key of ["index.ts", "removed.ts"]) await objects().put(bucket, key, Buffer.from("earlier"));
  const deps = { ...app.ports.deps, objects: failing(objects(), "put", 1, bucket) };
  await expect(app.run(undefined, deps)).rejects.toThrow(RetryDeployment);
  expect(await objects().list(bucket)).toEqual([{ key: "index.ts", size: "earlier".length }]);
});

test("a deployment that is stopped before its sources are stored stores none", async () => {
  const stop = new AbortController();
  const app = await given({ checkOut: () => stop.abort() });
  await app.run(stop.signal);
  expect(await objects().list(sourceBucketName(app.appId))).toEqual([]);
  expect([app.ports.bundled, (await app.find()).status]).toEqual([[], "queued"]);
});

test("a secret that is set after the start of the deployment is masked in the output of the build", async () => {
  const app = await given({
    checkOut: () => app.setVariable("API_KEY", { value: "s3cret-value", secret: true }),
    bundle: ({ onOutput }) => {
      onOutput(new TextEncoder().encode("value: s3cret-value\n"));
      return {};
    },
  });
  await app.run();
  expect(await app.log()).toContain("value: [masked]\n");
});

test("a secret is masked in the output of the checkout", async () => {
  const app = await given({
    checkOut: ({ onOutput }) => onOutput(new TextEncoder().encode("remote: s3cret-value\n")),
  });
  await app.setVariable("API_KEY", { value: "s3cret-value", secret: true });
  await app.run();
  expect(await app.log()).toContain("remote: [masked]\n");
});

test("an owner who changes a variable for builds during the build reads that the app has the earlier value", async () => {
  const app = await given({
    bundle: async () => {
      await app.setVariable("MODE", { value: "slow", build: true });
      return {};
    },
  });
  await app.setVariable("MODE", { value: "fast", build: true });
  await app.run();
  expect(await app.view()).toMatchObject({
    status: "ready",
    status_message:
      "The app is live. Variables for builds have changed since the build started. Deploy again to build with them.",
  });
});

test("an internal error of the discovery is reported, and the app goes live", async () => {
  const app = await given({
    discover: () => {
      throw new Error("no memory");
    },
  });
  await app.run();
  const { id } = await app.find();
  expect(app.ports.internalErrors).toMatchObject([{ error: new Error("no memory"), where: { deploymentId: id } }]);
  expect(await app.view()).toMatchObject({ status: "ready", status_message: expect.stringContaining("procedures") });
});

test("the bundle is stored under the number and the fencing token of the deployment", async () => {
  const app = await given();
  await app.run();
  const keys = (await objects().list(artifactBucketName(app.appId))).map(({ key }) => key);
  expect(keys).toEqual(["1.1/bundle.json", "1.1/script.form"]);
});
