import { randomUUID } from "node:crypto";
import { MemoryChangeFeed } from "./memory-change-feed.ts";

/**
 * The listeners of this process, for a feed that reaches other processes through a server. They are called at once, even
 * while the server is unreachable. The server also returns the notices that this process has sent; those are ignored.
 */
export class LocalListeners extends MemoryChangeFeed {
  readonly #origin = randomUUID();

  /** Calls the listeners and returns the notice to send to the server. */
  announceLocally(id: string): string {
    this.announce(id);
    return `${this.#origin} ${id}`;
  }

  /** Calls the listeners for a notice that came from the server, unless this process has sent it. */
  receive(notice: string): void {
    const [origin, id = ""] = notice.split(" ", 2);
    if (origin !== this.#origin) this.announce(id);
  }
}
