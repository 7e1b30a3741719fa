import { EventEmitter } from "node:events";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";

/** Reaches the listeners of this process. */
export class MemoryChangeFeed implements ChangeFeed {
  readonly #events = new EventEmitter().setMaxListeners(0);

  announce(orgId: string): void {
    this.#events.emit("changed", orgId);
  }

  /** Reports that notices of any organization may have been lost. */
  announceGap(): void {
    this.#events.emit("gap");
  }

  listen(listener: (orgId: string) => void, onGap: () => void = () => undefined): () => void {
    this.#events.on("changed", listener).on("gap", onGap);
    return () => void this.#events.off("changed", listener).off("gap", onGap);
  }
}
