import type { EntityManager } from "@mikro-orm/core";
import { App } from "../apps/app.entity.ts";
import { Build } from "./deployment.entity.ts";
import type { ClaimedDeployment } from "./claim-deployment.ts";

/** Somebody else has taken the app over: a deletion, or a worker that found this one silent for too long. */
export class Superseded extends Error {
  override readonly name = "Superseded";
}

/** How often a worker shows that it lives and asks whether it may go on, in milliseconds. */
const RENEWAL_MS = 1000;

/**
 * Keeps a hold alive until it is disposed of, which ends it, and aborts `signal` with `Superseded` as soon as the app has
 * been taken over. A renewal that fails (a database that restarts) is tried again: the fence, not the renewal, protects the app.
 */
export class DeploymentLease {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #em: EntityManager;
  readonly #build: ClaimedDeployment;
  #renewal: Promise<void> | null = null;

  constructor(em: EntityManager, build: ClaimedDeployment) {
    this.#em = em;
    this.#build = build;
    this.#timer = setInterval(() => {
      this.#renewal ??= this.#renew().finally(() => (this.#renewal = null));
    }, RENEWAL_MS);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Lets the build go, unless another worker has taken it up since. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    // A renewal that is under way would bring the hold back to life, and whoever is next would wait for it to run out.
    await this.#renewal;
    const { buildId, attempt } = this.#build;
    await this.#em.fork().nativeUpdate(Build, { id: buildId, attempts: attempt }, { heldAt: null });
  }

  async #renew(): Promise<void> {
    try {
      const em = this.#em.fork();
      const { appId, buildId, fence } = this.#build;
      if ((await em.count(App, { id: appId, fence })) === 0) this.#controller.abort(new Superseded());
      else await em.nativeUpdate(Build, { id: buildId, outcome: null }, { heldAt: new Date() });
    } catch {
      // The next renewal tells; until then nothing is written without the fence.
    }
  }
}
