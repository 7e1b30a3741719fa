import { randomUUID } from "node:crypto";
import { artifactBucketName, deploymentLogKey } from "../../../domain/apps/app-resources.ts";
import { App } from "../../../domain/apps/app.entity.ts";
import { removeOldArtifacts } from "../../../domain/deployments/artifacts.ts";
import type { DeploymentStatus } from "../../../domain/deployments/deployment-status.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import type { ObjectStore } from "../../../domain/ports/object-store.ts";
import type { Harness } from "../service/harness.ts";

export interface Given {
  status: DeploymentStatus;
  /** The number of the deployment that it rolls back to. */
  rollbackTo?: number;
}

/** Records an app with deployments, of which the last `ready` one is live, and stores a bundle for each that built one. */
export async function givenDeployments(service: Harness, given: Given[]) {
  const deps = () => service.service.parts.deploymentDeps;
  const { id: appId, orgId, repo, branch, latestDeploymentId } = await service.givenApp(await service.tenant());
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
