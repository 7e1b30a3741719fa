import { EdgeError } from "./edge-error.ts";

export interface RequestLimits {
  /** How many requests to one app may be open at the same time, including streams and WebSockets. */
  requestsPerApp: number;
  /** How many of them may come from one client network. */
  requestsPerClient: number;
}

interface AppRequests {
  total: number;
  byNetwork: Map<string, number>;
}

const RETRY_AFTER = { "retry-after": "1" };

/**
 * Counts the open requests of each app separately. Beyond a limit a request gets 503 at once: if it waited, it would wait
 * behind streams that may never end.
 */
export class OpenRequests {
  readonly #limits: RequestLimits;
  readonly #apps = new Map<string, AppRequests>();

  constructor(limits: RequestLimits) {
    this.#limits = limits;
  }

  /** @throws {EdgeError} 503 at a limit; the request is then not counted */
  add(slug: string, network: string): void {
    const app = this.#apps.get(slug);
    if (app === undefined) return void this.#apps.set(slug, { total: 1, byNetwork: new Map([[network, 1]]) });
    const ofClient = app.byNetwork.get(network) ?? 0;
    if (ofClient >= this.#limits.requestsPerClient)
      throw new EdgeError(503, "This address has too many open requests to the app.", RETRY_AFTER);
    if (app.total >= this.#limits.requestsPerApp)
      throw new EdgeError(503, "The app has too many open requests. Try again shortly.", RETRY_AFTER);
    app.total++;
    app.byNetwork.set(network, ofClient + 1);
  }

  remove(slug: string, network: string): void {
    const app = this.#apps.get(slug);
    if (app === undefined) return;
    if (--app.total === 0) return void this.#apps.delete(slug);
    const ofClient = (app.byNetwork.get(network) ?? 0) - 1;
    if (ofClient > 0) app.byNetwork.set(network, ofClient);
    else app.byNetwork.delete(network);
  }
}
