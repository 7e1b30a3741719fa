import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, expect, vi } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { artifactBucketName } from "../../../domain/apps/app-resources.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { cancelDeployment } from "../../../domain/deployments/cancel-deployment.ts";
import { redeployApp } from "../../../domain/deployments/redeploy-app.ts";
import { rollBackApp } from "../../../domain/deployments/roll-back-app.ts";
import { type DeploymentDeps, runDeployment } from "../../../domain/deployments/run-deployment.ts";
import type { Caller } from "../../../domain/shared/caller.ts";
import { Procedure } from "../../../domain/procedures/procedure.entity.ts";
import { Repository } from "../../support/builds/git-repository.ts";
import { appRequest } from "../../support/edge/app-request.ts";
import { createHarness, type Harness } from "../../support/service/harness.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { hazard, verifies } from "../../support/verifies.ts";

let repositories: Awaited<ReturnType<typeof temporaryFolder>>;
let harness: Harness;
const deps = () => harness.service.parts.deploymentDeps;

beforeAll(async () => {
  repositories = await temporaryFolder();
  const config = { gitBaseUrl: pathToFileURL(repositories.path).href };
  harness = await createHarness({ sharesBuilds: true, config });
});

afterAll(async () => {
  // The interrupted workers left their workspaces, as a killed service does. The next start removes them.
  await deps().workspaces.clear();
  await harness[Symbol.asyncDispose]();
  await repositories[Symbol.asyncDispose]();
});

afterEach(() => vi.useRealTimers());

const site = (text: string) => ({ "index.html": text, [`${text}.txt`]: text });

/** Runs the newest deployment of an app to its end. */
async function run(appId: string, using: DeploymentDeps = deps()): Promise<void> {
  const { latestDeploymentId } = await deps().em.fork().findOneOrFail(App, { id: appId });
  await runDeployment(using, latestDeploymentId, new AbortController().signal);
}

/** An app that is live with the text `first`, and whose repository has a newer commit with the text `second`. */
async function givenLiveApp(name: string) {
  const owner = await harness.tenant();
  const repository = await Repository.create(repositories.path, `acme/${name}`);
  await repository.commitFiles(site("first"));
  const { body } = await owner.rest.deploy({ repo: `acme/${name}` });
  const id = String(body["app_id"]);
  await run(id);
  await repository.commitFiles(site("second"));
  // Direct calls, because the deploy limit allows fewer redeploys than these tests need.
  const { service: deployments } = harness.service.parts;
  const caller: Caller = {
    orgId: owner.org_id,
    userId: owner.user_id,
    role: "owner",
    scope: "everything",
    credential: { kind: "operator", id: owner.org_id },
  };
  return {
    id,
    repository,
    text: async () => (await appRequest(String(body["url"]))).text,
    redeploy: () => redeployApp(deployments, caller, { id }, null),
    rollBack: (number: number) => rollBackApp(deployments, caller, { id, number }, null),
    cancel: (number: number) => cancelDeployment({ ...deployments, cancelWaitMs: 0 }, caller, { id, number }),
    statuses: async () => {
      const all = await deps()
        .em.fork()
        .find(Deployment, { appId: id }, { orderBy: { number: "asc" } });
      return all.map(({ status }) => status);
    },
  };
}

type Port = "git" | "bundler" | "objects" | "databases" | "edge";

interface Interruption {
  port: Port;
  operation: string;
  /** `after`: the operation has its effect, but the worker does not continue. */
  at: "before" | "after";
  /** The number of the call at which the worker stops; by default the first. */
  call?: number;
}

/** Starts the newest deployment in a worker that is never heard of again once it reaches an operation of a port. */
async function interrupt(appId: string, { port, operation, at, call = 1 }: Interruption): Promise<void> {
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  const never = new Promise<never>(() => {});
  let calls = 0;
  const stopped = new Proxy<object>(deps()[port], {
    get(target, name) {
      const member = Reflect.get(target, name, target) as (...given: unknown[]) => Promise<unknown>;
      if (name !== operation) return typeof member === "function" ? member.bind(target) : member;
      return async (...given: unknown[]) => {
        calls += 1;
        if (calls < call) return member.apply(target, given);
        if (at === "after") await member.apply(target, given);
        reach();
        return never;
      };
    },
  });
  // Without timers, this worker does not renew its lease.
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const running = run(appId, { ...deps(), [port]: stopped });
  await Promise.race([reached, running.then(() => Promise.reject(new Error("the deployment ended")))]);
  vi.useRealTimers();
  await deps()
    .em.fork()
    .nativeUpdate(Deployment, { appId, leaseRenewedAt: { $ne: null } }, { leaseRenewedAt: new Date(0) });
}

/** What is stored for deployments that do not have it, and what is missing. */
async function leftoversOf(appId: string) {
  const em = deps().em.fork();
  const objects = await deps().objects.list(artifactBucketName(appId));
  const kept = await em.find(Deployment, { appId, artifactKey: { $ne: null } });
  const stored = new Set(objects.map(({ key }) => key.split("/")[0]));
  const known = new Set(kept.map(({ artifactKey }) => artifactKey));
  const ids = new Set(kept.map(({ id }) => id));
  const procedures = await em.find(Procedure, { appId });
  return {
    unknownArtifacts: [...stored].filter((key) => !known.has(key)),
    missingArtifacts: [...known].filter((key) => !stored.has(key ?? "")),
    unknownProcedures: procedures.filter(({ deploymentId }) => !ids.has(deploymentId)),
  };
}

const NO_LEFTOVERS = { unknownArtifacts: [], missingArtifacts: [], unknownProcedures: [] };

const PROVISIONING: Interruption[] = [
  { port: "databases", operation: "create", at: "before" },
  { port: "edge", operation: "publish", at: "before" },
];

/** At the last one, the edge platform has switched to the new script already. */
const SWITCHED: Interruption = { port: "edge", operation: "publish", at: "after" };

const REDEPLOY: Interruption[] = [
  { port: "git", operation: "checkOut", at: "after" },
  { port: "bundler", operation: "bundle", at: "after" },
  // Two source files and the script come first.
  { port: "objects", operation: "put", at: "after", call: 4 },
  ...PROVISIONING,
  SWITCHED,
];

const ROLLBACK: Interruption[] = [
  // The log, the description and the script come first.
  { port: "objects", operation: "get", at: "after", call: 4 },
  ...PROVISIONING,
  SWITCHED,
];

verifies(
  [hazard(41), hazard(42)],
  "a redeploy that is interrupted at any step ends ready with the next worker, and the earlier version serves until the switch",
  async () => {
    const app = await givenLiveApp("interrupted");
    let [served, next] = ["first", "second"];
    for (const step of REDEPLOY) {
      await app.redeploy();
      await interrupt(app.id, step);
      expect([step, await app.text()]).toEqual([step, step === SWITCHED ? next : served]);
      await run(app.id);
      expect([step, await app.text(), (await app.statuses()).at(-1)]).toEqual([step, next, "ready"]);
      expect([step, await leftoversOf(app.id)]).toEqual([step, NO_LEFTOVERS]);
      await app.repository.commitFiles(site(served));
      [served, next] = [next, served];
    }
    expect(await app.statuses()).toEqual([...REDEPLOY.map(() => "superseded"), "ready"]);
  },
);

verifies(
  [hazard(41), hazard(42)],
  "a rollback that is interrupted at any step ends ready with the next worker, and the later version serves until the switch",
  async () => {
    const app = await givenLiveApp("interrupted-rollback");
    await app.redeploy();
    await run(app.id);
    let [served, next] = ["second", "first"];
    for (const step of ROLLBACK) {
      await app.rollBack(next === "first" ? 1 : 2);
      await interrupt(app.id, step);
      expect([step, await app.text()]).toEqual([step, step === SWITCHED ? next : served]);
      await run(app.id);
      expect([step, await app.text(), (await app.statuses()).at(-1)]).toEqual([step, next, "ready"]);
      expect([step, await leftoversOf(app.id)]).toEqual([step, NO_LEFTOVERS]);
      [served, next] = [next, served];
    }
  },
);

verifies(hazard(52), "a redeploy that is canceled after the switch puts the earlier version live again", async () => {
  const app = await givenLiveApp("canceled-late");
  await app.redeploy();
  await interrupt(app.id, SWITCHED);
  await app.cancel(2);
  await run(app.id);
  expect([await app.text(), await app.statuses()]).toEqual(["first", ["ready", "canceled"]]);
  expect(await leftoversOf(app.id)).toEqual(NO_LEFTOVERS);
});

verifies(
  hazard(52),
  "a redeploy that fails in its second attempt, after the first one has switched, puts the earlier version live again, once",
  async () => {
    const app = await givenLiveApp("failed-late");
    await app.redeploy();
    await interrupt(app.id, SWITCHED);
    await app.repository.git(["update-ref", "-d", "refs/heads/main"]);
    await run(app.id);
    expect([await app.text(), await app.statuses()]).toEqual(["first", ["ready", "failed"]]);
    const { slug } = await deps().em.fork().findOneOrFail(App, { id: app.id });
    const restored = await deps().edge.liveGeneration(slug);
    await app.redeploy();
    await run(app.id);
    expect([await app.text(), await deps().edge.liveGeneration(slug)]).toEqual(["first", restored]);
    await app.repository.commitFiles(site("second"));
    await app.redeploy();
    await run(app.id);
    expect([await app.text(), (await app.statuses()).at(-1)]).toEqual(["second", "ready"]);
  },
);
