import type { EntityManager } from "@mikro-orm/core";
import { IN_PROGRESS } from "../apps/app-status.ts";
import { App } from "../apps/app.entity.ts";
import type { ClaimedDeployment } from "./claim-deployment.ts";
import { Deployment } from "./deployment.entity.ts";

/** The worker no longer holds the lease: the app is being deleted, or another worker claimed the deployment. */
export class LeaseLost extends Error {
  override readonly name = "LeaseLost";
}

/** The owner of the app canceled the deployment. */
export class DeploymentCanceled extends Error {
  override readonly name = "DeploymentCanceled";
}

/** How often a worker renews its lease and checks that it still holds it, in milliseconds. */
const RENEWAL_MS = 1000;

/**
 * Renews a worker's lease on a deployment until it is disposed. Disposing ends the lease, so that another worker can
 * claim the deployment at once. `signal` aborts with `LeaseLost` when the worker has lost the lease, and with
 * `DeploymentCanceled` when the owner has canceled the deployment. A renewal that
 * fails, for example because the database restarts, is repeated: the fencing token, not the renewal, protects the app.
 */
export class DeploymentLease {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #em: EntityManager;
  readonly #deployment: ClaimedDeployment;
  #renewal: Promise<void> | null = null;

  constructor(em: EntityManager, deployment: ClaimedDeployment) {
    this.#em = em;
    this.#deployment = deployment;
    this.#timer = setInterval(() => {
      this.#renewal ??= this.#renew().finally(() => (this.#renewal = null));
    }, RENEWAL_MS);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends the lease, unless another worker has claimed the deployment since. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    // A renewal that finishes after this update would renew the ended lease, and the next worker would wait until it
    // expires.
    await this.#renewal;
    const { deploymentId, fencingToken } = this.#deployment;
    await this.#em.fork().nativeUpdate(Deployment, { id: deploymentId, fencingToken }, { leaseRenewedAt: null });
  }

  async #renew(): Promise<void> {
    try {
      const em = this.#em.fork();
      const { appId, deploymentId, fencingToken } = this.#deployment;
      if ((await em.count(App, { id: appId, fencingToken })) === 0) return this.#controller.abort(new LeaseLost());
      const unfinished = { id: deploymentId, fencingToken, status: { $in: [...IN_PROGRESS] } };
      await em.nativeUpdate(Deployment, unfinished, { leaseRenewedAt: new Date() });
      if ((await em.count(Deployment, { ...unfinished, cancelRequestedAt: { $ne: null } })) > 0)
        this.#controller.abort(new DeploymentCanceled());
    } catch {
      // The next renewal tries again. Until then the fencing token refuses every write of a worker without a lease.
    }
  }
}
