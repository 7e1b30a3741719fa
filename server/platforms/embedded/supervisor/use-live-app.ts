import type { AppAddress } from "../../../ports/app-address.ts";
import type { AcquiredApp } from "./running-app.ts";
import { AppRestricted, AppUnavailable } from "./unavailable-app.ts";

/** Provides running apps. */
export interface LiveApps {
  acquire(slug: string, hasToken: boolean): Promise<AcquiredApp | null>;
}

/**
 * Calls `use` with the address of the app at `slug`, which is started if necessary.
 *
 * @returns `null` if the app serves no requests, or there is none
 */
export async function useLiveApp<T>(
  apps: LiveApps,
  slug: string,
  use: (address: AppAddress) => Promise<T>,
): Promise<T | null> {
  const app = await apps.acquire(slug, true).catch((error: unknown) => {
    if (error instanceof AppUnavailable || error instanceof AppRestricted) return null;
    throw error;
  });
  if (app === null) return null;
  try {
    return await use(app.address);
  } finally {
    app.release();
  }
}
