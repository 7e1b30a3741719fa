import { setTimeout as delay } from "node:timers/promises";
import { type EntityManager, LockMode } from "@mikro-orm/core";
import { LOG_BUCKET } from "../apps/app-resources.ts";
import { App } from "../apps/app.entity.ts";
import { removeProcedures } from "../procedures/replace-procedures.ts";
import { inTransaction } from "../shared/transaction.ts";
import { AppStorageRecord } from "../storage/app-storage-record.entity.ts";
import { PushDelivery } from "../push-records/push-delivery.entity.ts";
import { PushEndpoint } from "../push-records/push-endpoint.entity.ts";
import { AppVariable } from "../variables/app-variable.entity.ts";
import { LEASE_MS } from "./claim-deployment.ts";
import { Customization } from "./customization.entity.ts";
import { Deployment } from "./deployment.entity.ts";
import { type AppPlatform, releaseResources } from "./release-resources.ts";
import { removeUnusedDependencies, type UnusedDependenciesDeps } from "./remove-unused-dependencies.ts";
import { type TeardownStep, teardownMessage } from "./teardown-steps.ts";

export interface TeardownDeps extends AppPlatform, UnusedDependenciesDeps {
  em: EntityManager;
}

/**
 * Removes everything of an app that is `deleting`, and with the last app of an organization its stored dependencies. The
 * record goes last, so after a crash between any two steps the next call continues. Does nothing for an app that is gone or
 * is not `deleting`. Safe to repeat, also twice at the same time. The status message of the app names the step that runs.
 *
 * @throws any error of a provider; the queue then runs the teardown again
 */
export async function tearDownApp(deps: TeardownDeps, appId: string): Promise<void> {
  const app = await deps.em.fork().findOne(App, { id: appId, status: "deleting" });
  if (app === null) return;
  const report = async (step: TeardownStep): Promise<void> => {
    await deps.em.fork().nativeUpdate(App, { id: appId, status: "deleting" }, { statusMessage: teardownMessage(step) });
  };
  await report("deployments in progress");
  await waitForWorkers(deps.em, appId);
  await releaseResources(deps, { appId, slug: app.slug }, report);
  await report("logs and variables");
  await removeLogs(deps, appId);
  await inTransaction(deps.em, async (em) => {
    await em.findOne(App, { id: appId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    await removeProcedures(em, { appId });
    await em.nativeDelete(AppVariable, { appId });
    await em.nativeDelete(PushEndpoint, { appId });
    await em.nativeDelete(PushDelivery, { appId });
    await em.nativeDelete(AppStorageRecord, { appId });
    await em.nativeDelete(Customization, { appId });
    await em.nativeDelete(Deployment, { appId });
    await em.nativeDelete(App, { id: appId, status: "deleting" });
  });
  // After the record, so that of two last apps the later one does it. After a crash, the sweep does it.
  await removeUnusedDependencies(deps, [app.orgId]);
}

async function removeLogs({ em, objects }: TeardownDeps, appId: string): Promise<void> {
  const deployments = await em.fork().find(Deployment, { appId }, { fields: ["logKey"] });
  for (const { logKey } of deployments) await objects.remove(LOG_BUCKET, logKey);
}

/** A worker notices within a second that its app is being deleted. The lease of a dead worker expires. */
async function waitForWorkers(em: EntityManager, appId: string): Promise<void> {
  const leased = () => ({ appId, leaseRenewedAt: { $gt: new Date(Date.now() - LEASE_MS) } });
  while ((await em.fork().count(Deployment, leased())) > 0) await delay(100);
}
