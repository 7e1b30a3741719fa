// What the service writes to the key-value namespace of the edge, and the dispatch worker reads.

/** The entry of a slug. It exists before anything else of the app, and until everything is removed. */
export interface SlugEntry {
  appId: string;
  /** Set while the app stores more than it may. */
  restriction?: { message: string; servesOwner: boolean } | undefined;
}

export const AUTH_PREFIX = "token/";
export const SLUG_PREFIX = "slug/";

/** The header with which the service requests the new version of an app for its health probe. */
export const PROBE_HEADER = "x-service-probe";

/** The result of a probe: `responded` with the status of the app, `missing`, or `failed` with the error as the body. */
export const PROBE_RESULT_HEADER = "x-service-probe-result";

/** Bindings of the dispatch worker. */
export const BINDINGS = {
  apps: "APPS",
  entries: "ENTRIES",
  domain: "DOMAIN",
  probeSecret: "PROBE_SECRET",
} as const;
