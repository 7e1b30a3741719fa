import { EventEmitter } from "node:events";
import type { ChangeFeed } from "../../../domain/ports/change-feed.ts";

/** Reaches the listeners of this process. */
export class MemoryChangeFeed implements ChangeFeed {
  readonly #events = new EventEmitter().setMaxListeners(0);

  announce(id: string): void {
    this.#events.emit("changed", id);
  }

  /** Reports that notices may have been lost. */
  announceGap(): void {
    this.#events.emit("gap");
  }

  listen(listener: (id: string) => void, onGap: () => void = () => undefined): () => void {
    this.#events.on("changed", listener).on("gap", onGap);
    return () => void this.#events.off("changed", listener).off("gap", onGap);
  }
}
