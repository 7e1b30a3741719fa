import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";

type Listener = (event: ServerEvent) => void;

/**
 * Carries events to the subscriptions of one organization. The SDK subscribes without saying for whom; it does so while
 * it serves the request that asked, so that request's organization is the one.
 */
export class SubscriptionBus implements ServerEventBus {
  readonly #current = new AsyncLocalStorage<string>();
  readonly #listeners = new Map<string, Set<Listener>>();

  /** Serves a request of this organization. */
  serving<T>(orgId: string, serve: () => T): T {
    return this.#current.run(orgId, serve);
  }

  publishTo(orgId: string, event: ServerEvent): void {
    for (const listener of this.#listeners.get(orgId) ?? []) listener(event);
  }

  publishToAll(event: ServerEvent): void {
    for (const listeners of this.#listeners.values()) for (const listener of listeners) listener(event);
  }

  /** The SDK's own servers have nothing to say: one serves a single request. */
  publish(): void {
    throw new Error("an event was published to no organization");
  }

  subscribe(listener: Listener): () => void {
    const orgId = this.#current.getStore();
    if (orgId === undefined) throw new Error("a subscription was made outside a request");
    const listeners = this.#listeners.get(orgId) ?? new Set();
    this.#listeners.set(orgId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(orgId);
    };
  }
}
