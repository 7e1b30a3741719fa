import { RateLimited, ServiceError } from "../../shared/errors.ts";

const MAX_IMPORTS = { perOrganization: 2, perProcess: 4 };
const RETRY_SECONDS = 2;

/** Limits how many transcripts are imported at the same time, because each one needs memory for its longest lines. */
export class ImportLimiter {
  readonly #running = new Map<string, number>();
  #total = 0;

  /**
   * Runs `work` when the limits permit it.
   *
   * @throws {ServiceError} `rate_limited` when the organization reaches its limit; `unavailable` when the process reaches its own
   */
  async run<T>(orgId: string, work: () => Promise<T>): Promise<T> {
    const running = this.#running.get(orgId) ?? 0;
    if (running >= MAX_IMPORTS.perOrganization) {
      const message = `Your organization is importing ${running} transcripts, which is the limit. Wait until one is imported.`;
      throw new RateLimited(message, RETRY_SECONDS);
    }
    if (this.#total >= MAX_IMPORTS.perProcess)
      throw new ServiceError("unavailable", "The service is importing other transcripts. Try again in a few seconds.");
    this.#add(orgId, 1);
    try {
      return await work();
    } finally {
      this.#add(orgId, -1);
    }
  }

  #add(orgId: string, count: 1 | -1): void {
    this.#total += count;
    const running = (this.#running.get(orgId) ?? 0) + count;
    if (running === 0) this.#running.delete(orgId);
    else this.#running.set(orgId, running);
  }
}
