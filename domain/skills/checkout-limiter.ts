import { ServiceError } from "../shared/errors.ts";

const MAX_CHECKOUTS = 2;

/** Limits how many repositories are read at the same time for skills: one for each organization, and two in this process. */
export class CheckoutLimiter {
  readonly #organizations = new Set<string>();

  /**
   * Runs `work` when the limits permit it.
   *
   * @throws {ServiceError} `conflict` when the organization reaches its limit; `unavailable` when the process reaches its own
   */
  async run<T>(orgId: string, work: () => Promise<T>): Promise<T> {
    if (this.#organizations.has(orgId))
      throw new ServiceError(
        "conflict",
        "The organization is uploading another skill from a repository. Wait until it is stored.",
      );
    if (this.#organizations.size >= MAX_CHECKOUTS)
      throw new ServiceError("unavailable", "The service is reading other repositories. Try again in a few seconds.");
    this.#organizations.add(orgId);
    try {
      return await work();
    } finally {
      this.#organizations.delete(orgId);
    }
  }
}
