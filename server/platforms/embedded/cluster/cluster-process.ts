import { setTimeout as sleep } from "node:timers/promises";
import { WorkerdProcess } from "../workerd/workerd-process.ts";

/** How long a process may take to hand its durable objects to others. The engine needs 8 s at most. */
const HANDOFF_MS = 10_000;

/** One workerd that is a member of the cluster of its app. It is never restarted; a new one replaces it. */
export class ClusterProcess extends WorkerdProcess {
  #stopping: Promise<void> | undefined;

  /**
   * Lets the process hand its durable objects to the other processes of the app: those of a killed one are away for 20 seconds.
   * Returns at once, because no other process needs its files. `ended` resolves when it has ended.
   */
  override async shutDown(): Promise<void> {
    if (this.#stopping !== undefined) return;
    this.#stopping = Promise.race([this.exited, sleep(HANDOFF_MS, null, { ref: false })]).then(() => this.kill());
    this.#stopping.catch(() => undefined);
    await this.terminate();
  }

  override [Symbol.asyncDispose](): Promise<void> {
    return this.shutDown();
  }

  /** Resolves when the process has ended after `shutDown`. */
  async ended(): Promise<void> {
    await this.#stopping;
  }
}
