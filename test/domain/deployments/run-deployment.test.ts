import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { artifactBucketName } from "../../../domain/apps/app-resources.ts";
import { appToken } from "../../../domain/apps/app-token.ts";
import { App } from "../../../domain/apps/app.entity.ts";
import { RetryDeployment, runDeployment } from "../../../domain/deployments/run-deployment.ts";
import { UnreadableVariable } from "../../../domain/ports/app-variables.ts";
import { StaleGeneration } from "../../../domain/ports/edge-platform.ts";
import type { DiscoveredProcedure } from "../../../domain/ports/procedure-discovery.ts";
import { Procedure } from "../../../domain/procedures/procedure.entity.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { givenQueuedDeployment } from "../../support/builds/given-deployment.ts";
import type { ScriptedSteps } from "../../support/builds/scripted-ports.ts";
import { failing } from "../../support/edge/platform-resources.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();
const given = (steps?: ScriptedSteps) => givenQueuedDeployment(service(), steps);

const GREET: DiscoveredProcedure = {
  name: "greet",
  kind: "query",
  description: "Says hello.",
  inputSchema: { type: "object" },
  outputSchema: null,
  invocation: { via: "trpc", endpoint: "/trpc", transformer: "none" },
};

const internal = () => {
  throw new Error("the disk is full");
};

const userFailure = (message: string, advice = "Correct it.") => new BuildFailure("user", message, advice);

test("a deployment that succeeds ends ready, with its procedures, its framework and its log, and leaves no workspace", async () => {
  const app = await given({
    bundle: () => ({ framework: "hono" }),
    discover: () => ({ procedures: [GREET], problem: null }),
  });
  const { deps } = app.ports;
  const announced: string[] = [];
  const stops = [deps.changes, deps.logChanges].map((feed) => feed.listen((id) => announced.push(id)));
  await app.run();
  const { id, leaseRenewedAt, artifactKey } = await app.find();
  for (const stop of stops) stop();
  expect(announced).toContain(app.tenant.org_id);
  expect(announced.at(-1)).toBe(id);
  expect(await app.view()).toMatchObject({
    status: "ready",
    status_message: null,
    error: null,
    manifest: { sql_database_id: `app-${app.appId}`, object_bucket_name: `app-${app.appId}`, framework: "hono" },
  });
  expect([leaseRenewedAt, artifactKey, app.ports.internalErrors]).toEqual([null, "1.1", []]);
  const stored = await deps.em.fork().find(Procedure, { deploymentId: id });
  expect(stored).toMatchObject([{ name: "greet", description: "Says hello.", appId: app.appId }]);
  const log = await app.log();
  expect(log).toMatch(/\[service\] found 1 procedure \(tRPC\)\n/);
  expect(log).toMatch(/\[service\] ready\n$/);
  expect(log).not.toContain("attempt");
  expect(await app.workspaces()).toEqual([]);
});

test("a deployment that has ended is not run again", async () => {
  const app = await given();
  await app.update({ status: "failed" });
  await app.run();
  await runDeployment(app.ports.deps, randomUUID(), new AbortController().signal);
  expect([app.ports.checkouts, await app.log()]).toEqual([[], ""]);
});

test("problems that do not prevent a deployment are the status message of the live app, without secrets", async () => {
  const app = await given({
    bundle: () => ({ warnings: ["The lockfile of s3cret-value is old."] }),
    discover: () => ({ procedures: [], problem: "A schema was left out." }),
  });
  await app.setVariable("API_KEY", { value: "s3cret-value", secret: true });
  await app.run();
  expect(await app.view()).toMatchObject({
    status: "ready",
    error: null,
    status_message: "The app is live. The lockfile of [masked] is old. A schema was left out.",
  });
  expect(await app.log()).toContain("[service] warning: The lockfile of [masked] is old.\n");
  expect(await app.log()).toContain("[service] A schema was left out.\n");
});

test("an internal error ends the attempt, is reported to the operator, and fails the deployment at the third attempt", async () => {
  const app = await given({ checkOut: internal });
  for (const attempt of [1, 2]) {
    const retried = await app.run().catch((error: unknown) => error);
    expect(retried).toBeInstanceOf(RetryDeployment);
    expect(retried).toMatchObject({ cause: new Error("the disk is full") });
    expect(app.ports.internalErrors).toHaveLength(attempt);
    expect(await app.find()).toMatchObject({ status: "cloning", attempts: attempt, leaseRenewedAt: null });
  }
  await app.run();
  const { id } = await app.find();
  expect(app.ports.internalErrors.at(-1)).toMatchObject({
    error: new Error("the disk is full"),
    where: { deploymentId: id, appId: app.appId, attempt: 3 },
  });
  expect(await app.view()).toMatchObject({
    status: "failed",
    error: "The platform failed to build this app.",
    status_message: expect.stringContaining("ask the operator to look for the app's id"),
  });
  const log = await app.log();
  expect(log.match(/\[service\] attempt \d of 3\n/g)).toEqual([
    "[service] attempt 2 of 3\n",
    "[service] attempt 3 of 3\n",
  ]);
  expect(log.match(/will be tried again/g)).toHaveLength(2);
  expect(log).not.toContain("disk");
});

test("a deployment whose worker crashed three times fails without another attempt", async () => {
  const app = await given();
  await app.update({ attempts: 3 });
  await app.run();
  expect(app.ports.checkouts).toEqual([]);
  expect(await app.view()).toMatchObject({
    status: "failed",
    error: "The build was interrupted 3 times.",
    status_message: expect.stringContaining("make it smaller"),
  });
  expect(app.ports.internalErrors).toHaveLength(1);
});

test("a failure that the project causes ends the deployment at its first attempt, without secrets and without a report", async () => {
  const app = await given({
    checkOut: () => app.setVariable("API_KEY", { value: "s3cret-value", secret: true }),
    bundle: () => {
      throw userFailure("It printed s3cret-value.", "Remove s3cret-value.");
    },
  });
  await app.run();
  expect(await app.view()).toMatchObject({
    status: "failed",
    error: "It printed [masked].",
    status_message: "Remove [masked].",
    manifest: null,
  });
  expect(app.ports.internalErrors).toEqual([]);
  expect(await app.log()).toMatch(/\[service\] failed: It printed \[masked\]\.\n$/);
  expect(await app.workspaces()).toEqual([]);
});

test("the token of the app and the secrets of the service are masked in the log, also in other encodings", async () => {
  const app = await given({
    bundle: ({ onOutput }) => {
      const token = appToken(app.ports.deps.tokenSecret, { id: app.appId, tokenVersion: 1 });
      // As in the header `Authorization: Basic`, without the characters that depend on what follows.
      const credentials = Buffer.from(`me:${token}`).toString("base64").slice(0, -4);
      for (const text of [token, credentials, "Pa55word/of+db", encodeURIComponent("Pa55word/of+db")])
        onOutput(new TextEncoder().encode(`value: ${text}\n`));
      return {};
    },
  });
  await app.run(undefined, { ...app.ports.deps, secrets: ["Pa55word/of+db"] });
  expect((await app.log()).match(/(?<=value: ).*/g)).toEqual(["[masked]", "bWU6[masked]", "[masked]", "[masked]"]);
});

test("a secret that is set after the last read of the variables is masked in the error of the build", async () => {
  const app = await given({
    bundle: async () => {
      await app.setVariable("API_KEY", { value: "s3cret-value", secret: true });
      throw userFailure("It printed s3cret-value.");
    },
  });
  await app.run();
  expect(await app.view()).toMatchObject({ status: "failed", error: "It printed [masked]." });
});

test("a variable that cannot be decrypted fails the deployment with its name and what to do", async () => {
  const app = await given();
  const read = () => Promise.reject(new UnreadableVariable("API_KEY"));
  const variables = { read, readForBuild: read, readRegistry: read };
  await app.run(undefined, { ...app.ports.deps, variables });
  expect(await app.view()).toMatchObject({
    status: "failed",
    error: expect.stringContaining('"API_KEY" cannot be decrypted'),
    status_message: "Then deploy again.",
  });
  expect(app.ports.internalErrors).toEqual([]);
});

test("a deployment that was canceled before its worker started ends canceled without a checkout", async () => {
  const app = await given();
  await app.update({ cancelRequestedAt: new Date() });
  await app.run();
  expect([(await app.find()).status, app.ports.checkouts]).toEqual(["canceled", []]);
  expect(await app.log()).toBe("[service] canceled\n");
});

test("a deployment that is canceled while it builds ends canceled", async () => {
  const app = await given({
    bundle: async ({ signal }) => {
      await app.update({ cancelRequestedAt: new Date() });
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw userFailure("The build was stopped.");
    },
  });
  await app.run();
  expect(await app.view()).toMatchObject({ status: "canceled", error: null, manifest: null });
  expect(await app.log()).toMatch(/\[service\] canceled\n$/);
  expect(await app.log()).not.toContain("failed");
});

test("a deployment that the service stops goes back to the queue, and the attempt does not count", async () => {
  const stop = new AbortController();
  const app = await given({
    bundle: ({ signal }) => {
      stop.abort();
      expect(signal.aborted).toBe(true);
      throw userFailure("The build was stopped.");
    },
  });
  await app.run(stop.signal);
  expect(await app.find()).toMatchObject({ status: "queued", attempts: 0, leaseRenewedAt: null });
  expect(await app.log()).toMatch(/\[service\] interrupted by a restart of the service; the build will start again\n$/);
  expect(app.ports.internalErrors).toEqual([]);
});

test("a worker whose script is older than the live one changes neither the deployment nor its log", async () => {
  const app = await given({
    publish: () => {
      throw new StaleGeneration("a newer script is live");
    },
  });
  await app.run();
  expect(await app.find()).toMatchObject({ status: "provisioning", finishedAt: null });
  expect(app.ports.internalErrors).toEqual([]);
  expect(await app.log()).not.toContain("failed");
});

test("an app that is deleted during a step keeps its status, whatever the step reports", async () => {
  const app = await given({
    bundle: async ({ signal }) => {
      const { em } = service().service.parts.deploymentDeps;
      await em.fork().nativeUpdate(App, { id: app.appId }, { status: "deleting", fencingToken: 9 });
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw userFailure("The build was stopped.");
    },
  });
  await app.run();
  expect([(await app.find()).status, (await app.record()).status]).toEqual(["building", "deleting"]);
  expect(await app.log()).not.toContain("failed");
});

test("a worker that loses its lease while a failure is recorded ends without an error", async () => {
  const app = await given({
    checkOut: async () => {
      const { em } = service().service.parts.deploymentDeps;
      await em.fork().nativeUpdate(App, { id: app.appId }, { fencingToken: 9 });
      throw userFailure("The branch does not exist.");
    },
  });
  await app.run();
  expect(await app.find()).toMatchObject({ status: "cloning", error: null });
});

test("an error of the platform while a failure is recorded is thrown, so that the queue repeats the deployment", async () => {
  const app = await given({
    checkOut: () => {
      throw userFailure("The branch does not exist.");
    },
  });
  const { deps } = app.ports;
  const faulty = { ...deps, authEntries: failing(deps.authEntries, "remove", 1) };
  await expect(app.run(undefined, faulty)).rejects.toThrow("500");
  expect((await app.find()).status).toBe("cloning");
});

test("bundles of earlier deployments are removed after success and after failure, and an error of that is only reported", async () => {
  const app = await given();
  const { objects } = app.ports.deps;
  const bucket = artifactBucketName(app.appId);
  const keys = async () => new Set((await objects.list(bucket)).map(({ key }) => key.split("/")[0]));
  await app.run();
  await objects.put(bucket, "0.7/bundle.json", new Uint8Array());
  await app.redeploy();
  await app.run();
  expect(await keys()).toEqual(new Set(["1.1", "2.2"]));
  await objects.put(bucket, "0.7/bundle.json", new Uint8Array());
  app.ports.steps = {
    checkOut: () => {
      throw userFailure("The branch does not exist.");
    },
  };
  await app.redeploy();
  await app.run();
  expect(await keys()).toEqual(new Set(["1.1", "2.2"]));
  app.ports.steps = {};
  await app.redeploy();
  await app.run(undefined, { ...app.ports.deps, objects: failing(objects, "list", 1, bucket) });
  expect((await app.find(4)).status).toBe("ready");
  const { id } = await app.find(4);
  expect(app.ports.internalErrors).toMatchObject([{ where: { deploymentId: id, appId: app.appId } }]);
});
