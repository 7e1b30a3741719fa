/**
 * Reads the `Ratelimit` header of Cloudflare's API, such as `"default";r=50;t=30`.
 *
 * @returns the seconds until requests are accepted again; 0 while there are some left
 */
export function readRateLimit(header: string | null): number {
  const [, remaining] = /;\s*r=(\d{1,9})\b/.exec(header ?? "") ?? [];
  const [, seconds] = /;\s*t=(\d{1,9})\b/.exec(header ?? "") ?? [];
  return remaining === "0" ? Number(seconds ?? 0) : 0;
}

const DEFAULT_SECONDS = 10;

/** Reads a `Retry-After` header with seconds. Returns a default for any other value. */
export function retryAfterSeconds(header: string | null): number {
  return /^\d{1,9}$/.test(header ?? "") ? Number(header) : DEFAULT_SECONDS;
}
