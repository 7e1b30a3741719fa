import { randomUUID } from "node:crypto";
import { MemoryChangeFeed } from "./memory-change-feed.ts";

/**
 * The listeners of this process, for a feed that reaches other processes through a server and hears from it what it has
 * sent there itself. They are told at once, whether or not the server can be reached.
 */
export class OwnListeners extends MemoryChangeFeed {
  readonly #origin = randomUUID();

  /** Tells the listeners, and says what is to be sent to the server. */
  tell(orgId: string): string {
    this.announce(orgId);
    return `${this.#origin} ${orgId}`;
  }

  /** Takes what has come from the server. */
  hear(notice: string): void {
    const [origin, orgId = ""] = notice.split(" ", 2);
    if (origin !== this.#origin) this.announce(orgId);
  }
}
