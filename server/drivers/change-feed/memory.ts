import { EventEmitter } from "node:events";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";

/** Reaches the listeners of this process. */
export class MemoryChangeFeed implements ChangeFeed {
  readonly #events = new EventEmitter().setMaxListeners(0);

  announce(orgId: string): void {
    this.#events.emit("changed", orgId);
  }

  listen(listener: (orgId: string) => void): () => void {
    this.#events.on("changed", listener);
    return () => void this.#events.off("changed", listener);
  }
}
