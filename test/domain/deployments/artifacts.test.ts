import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { App } from "../../../domain/apps/app.entity.ts";
import { artifactBucketName, deploymentLogKey } from "../../../domain/apps/app-resources.ts";
import { removeOldArtifacts } from "../../../domain/deployments/artifacts.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import type { DeploymentStatus } from "../../../domain/deployments/deployment-status.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

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
    clean: () => removeOldArtifacts(deps(), appId),
    stored: async () => (await deps().objects.list(bucket)).map(({ key }) => key.split("/")[0]),
    keys: async () => {
      const all = await deps()
        .em.fork()
        .find(Deployment, { appId }, { orderBy: { number: "asc" } });
      return all.map(({ artifactKey }) => artifactKey ?? null);
    },
  };
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
  expect(await app.stored()).toEqual(["1", "2", "5", "6", "7"]);
  expect(await app.keys()).toEqual(["1", "2", null, null, "5", "6", "7", "1", null]);
});
