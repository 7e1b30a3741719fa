import { readdir } from "node:fs/promises";
import path from "node:path";
import { App } from "../../../domain/apps/app.entity.ts";
import { LOG_BUCKET } from "../../../domain/apps/app-resources.ts";
import { Deployment } from "../../../domain/deployments/deployment.entity.ts";
import { runDeployment } from "../../../domain/deployments/run-deployment.ts";
import type { Harness } from "../service/harness.ts";
import { ScriptedPorts, type ScriptedSteps } from "./scripted-ports.ts";

/** An app whose first deployment is queued, and a worker whose steps are scripted. */
export async function givenQueuedDeployment(harness: Harness, steps: ScriptedSteps = {}) {
  const tenant = await harness.tenant();
  const { id: appId, slug } = await harness.givenApp(tenant, { status: "queued" });
  const real = harness.service.parts.deploymentDeps;
  const ports = new ScriptedPorts(real, steps);
  const em = () => real.em.fork();
  const find = (number = 1) => em().findOneOrFail(Deployment, { appId, number });
  const newest = async () => (await em().find(Deployment, { appId }, { orderBy: { number: "desc" }, limit: 1 }))[0]!;
  return {
    tenant,
    appId,
    slug,
    ports,
    find,
    update: (changes: Partial<Deployment>, number = 1) => em().nativeUpdate(Deployment, { appId, number }, changes),
    record: () => em().findOneOrFail(App, { id: appId }),
    view: async () => (await tenant.rest.get(`/v1/apps/${appId}`)).body,
    /** Queues another deployment, without a limit on how many. */
    redeploy: async (changes: Partial<Deployment> = {}) => {
      const { number, orgId, repo, branch } = await newest();
      const source = { appId, orgId, repo, branch, number: number + 1, trigger: "redeploy", status: "queued" } as const;
      const added = em();
      const deployment = added.create(Deployment, { ...source, logKey: `${appId}/${number + 1}.log`, ...changes });
      await added.flush();
      await em().nativeUpdate(App, { id: appId }, { latestDeploymentId: deployment.id });
    },
    /** Runs one attempt of the newest deployment. */
    run: async (stop = new AbortController().signal, deps = ports.deps) =>
      runDeployment(deps, (await newest()).id, stop),
    setVariable: async (name: string, body: object) => {
      const headers = { "content-type": "application/json" };
      const path = `/v1/apps/${appId}/variables/${name}`;
      const { status } = await tenant.rest.send("PUT", path, { headers, body: JSON.stringify(body) });
      if (status !== 200) throw new Error(`the variable was not set: ${status}`);
    },
    log: async (number = 1) => {
      const stored = await real.objects.get(LOG_BUCKET, (await find(number)).logKey);
      return new TextDecoder().decode(stored ?? new Uint8Array());
    },
    workspaces: () => readdir(path.join(harness.dataDirectory, "builds")),
  };
}
