import { ServiceError } from "./service-error.ts";

/** A call that may be repeated only later than this fails at once, with the time in its error. In milliseconds. */
const MAX_RETRY_AFTER_MS = 30_000;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 4_000;

/** Statuses of proxies whose service is being restarted. */
const GATEWAY_STATUSES: readonly (number | null)[] = [502, 503, 504];

/**
 * Returns how long to wait before a failed request is repeated, in milliseconds; `null` when it must not be repeated.
 *
 * @param isSafe - whether it may be repeated when it is unknown whether the service has executed it
 */
export function retryDelayMs(error: unknown, attempt: number, isSafe: boolean): number | null {
  if (!(error instanceof ServiceError) || !mayRepeat(error, isSafe)) return null;
  const backOff = Math.min(FIRST_DELAY_MS * 2 ** attempt, MAX_DELAY_MS) * (0.5 + Math.random() / 2);
  const wait = Math.max((error.retryAfterSeconds ?? 0) * 1000, backOff);
  return wait > MAX_RETRY_AFTER_MS ? null : wait;
}

function mayRepeat({ code, status }: ServiceError, isSafe: boolean): boolean {
  // The service counts a call before it executes it.
  if (code === "rate_limited") return true;
  if (!isSafe) return false;
  return code === "network" || code === "unavailable" || GATEWAY_STATUSES.includes(status);
}

/** Waits. @throws the reason of the signal */
export function delay(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted === true) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
