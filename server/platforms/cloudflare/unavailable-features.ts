import type { AlwaysOnApps } from "../../../domain/ports/always-on-apps.ts";
import type { RuntimeLogs } from "../../../domain/ports/runtime-logs.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";

const NO_LOGS =
  "This installation runs apps on Cloudflare, which gives the service no logs of running apps. The operator finds them in Cloudflare's dashboard.";

/** Cloudflare gives the logs of scripts in a dispatch namespace to a tail Worker only. */
export const noRuntimeLogs: RuntimeLogs = {
  read: async () => {
    throw new ServiceError("conflict", NO_LOGS);
  },
  listen: () => () => {},
};

/** Workers run while they handle requests only. */
export function noAlwaysOnApps(log: { warn(fields: object, message: string): void }): AlwaysOnApps {
  let wasReported = false;
  return {
    set: (apps) => {
      if (apps.length === 0 || wasReported) return;
      wasReported = true;
      log.warn({ apps: apps.length }, "Cloudflare runs no apps without requests, so always-on apps have no effect");
    },
  };
}
