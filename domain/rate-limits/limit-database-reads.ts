import type { Counter } from "../ports/counter.ts";
import { RateLimited } from "../shared/errors.ts";

/** Requests of an organization that read a database of an app, which copies it or connects to it. */
const DATABASE_READ_LIMIT = { limit: 60, windowSeconds: 60 } as const;

/**
 * Counts one request, whatever its result.
 *
 * @throws {RateLimited} when the organization has reached the limit
 */
export async function limitDatabaseReads(counter: Counter, orgId: string): Promise<void> {
  const state = await counter.consume({ key: `database-reads:${orgId}`, ...DATABASE_READ_LIMIT });
  if (state.allowed) return;
  const { limit, windowSeconds } = DATABASE_READ_LIMIT;
  throw new RateLimited(
    `An organization may read databases of its apps ${limit} times in ${windowSeconds} seconds. Try again in ${state.resetSeconds} seconds.`,
    state.resetSeconds,
  );
}
