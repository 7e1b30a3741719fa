import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import type { Runtime } from "../ports/bundler.ts";
import { inTransaction } from "../shared/transaction.ts";
import type { ClaimedDeployment } from "./claim-deployment.ts";
import { Deployment } from "./deployment.entity.ts";

/** Records how a built version runs. An app that was never live shows it at once, any other when the version is live. */
export async function recordRuntime(
  { em }: { em: EntityManager },
  { appId, deploymentId, fencingToken }: Pick<ClaimedDeployment, "appId" | "deploymentId" | "fencingToken">,
  runtime: Runtime,
): Promise<void> {
  await inTransaction(em, async (tx) => {
    // The app before the deployment: the order in which every writer locks the two.
    await tx.nativeUpdate(App, { id: appId, fencingToken, liveDeploymentId: null }, { runtime });
    await tx.nativeUpdate(Deployment, { id: deploymentId, fencingToken }, { runtime });
  });
}
