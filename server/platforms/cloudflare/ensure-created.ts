import { setTimeout as sleep } from "node:timers/promises";
import { CloudflareError } from "./cloudflare-error.ts";

const ATTEMPTS = 4;
const PAUSE_MS = 250;

/**
 * Returns what `find` returns, after `create` if that is `null`. Cloudflare's requests that create something cannot be
 * repeated, so after every error `find` says whether there was an effect.
 *
 * @throws {CloudflareError} of the last attempt
 */
export async function ensureCreated<T>(find: () => Promise<T | null>, create: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    const found = await find();
    if (found !== null) return found;
    try {
      return await create();
    } catch (error) {
      if (!(error instanceof CloudflareError)) throw error;
      const created = await find();
      if (created !== null) return created;
      if (!error.isTransient || attempt >= ATTEMPTS) throw error;
      await sleep(PAUSE_MS * attempt);
    }
  }
}
