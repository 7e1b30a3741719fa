import { AsyncLocalStorage } from "node:async_hooks";
import type { ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";

type Listener = (event: ServerEvent) => void;

/**
 * Delivers events to the subscriptions of one organization. The SDK does not say for which organization it subscribes. It
 * subscribes while it serves a request, so `run` stores the organization of that request.
 */
export class SubscriptionBus implements ServerEventBus {
  readonly #currentOrgId = new AsyncLocalStorage<string>();
  readonly #listenersByOrgId = new Map<string, Set<Listener>>();

  /** Serves a request of an organization. */
  run<T>(orgId: string, serve: () => T): T {
    return this.#currentOrgId.run(orgId, serve);
  }

  publishTo(orgId: string, event: ServerEvent): void {
    for (const listener of this.#listenersByOrgId.get(orgId) ?? []) listener(event);
  }

  publishToAll(event: ServerEvent): void {
    for (const listeners of this.#listenersByOrgId.values()) for (const listener of listeners) listener(event);
  }

  /** The SDK's servers publish nothing, because each serves a single request. */
  publish(): void {
    throw new Error("an event was published without an organization");
  }

  subscribe(listener: Listener): () => void {
    const orgId = this.#currentOrgId.getStore();
    if (orgId === undefined) throw new Error("a subscription was created outside a request");
    const listeners = this.#listenersByOrgId.get(orgId) ?? new Set();
    this.#listenersByOrgId.set(orgId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listenersByOrgId.delete(orgId);
    };
  }
}
