import { createRequire } from "node:module";
import type * as miniflareLibrary from "miniflare";
import { LAUNCH_SCRIPT } from "../../../sandbox/process-launcher.ts";

/** The heap of one isolate, as on the production platform. */
export const HEAP_MB = 128;

/**
 * Makes Miniflare start every workerd of this process through the sandbox, with a limit on the heap of each isolate.
 *
 * Miniflare reads both settings from the environment of the process and has no options for them, so only this file
 * writes to that environment. A Miniflare without `LaunchedProcess.environment` cannot start workerd any more.
 */
export function sandboxMiniflare(): void {
  // oxlint-disable-next-line node/no-process-env -- read by Miniflare, see above
  Object.assign(process.env, {
    MINIFLARE_WORKERD_PATH: LAUNCH_SCRIPT,
    MINIFLARE_WORKERD_V8_FLAGS: `--max-old-space-size=${HEAP_MB}`,
  });
}

const require = createRequire(import.meta.url);

/** The exports of the package workerd, which has no type declarations. */
export const workerd = require("workerd") as {
  /** The path of the workerd binary for this machine. */
  default: string;
  compatibilityDate: string;
};

/**
 * Loads Miniflare, when the first app starts, because the library is large.
 *
 * Miniflare copies all certificates of `NODE_EXTRA_CA_CERTS` into the configuration of each workerd, for a service that no
 * worker uses here: every worker has an `outboundService` of its own. Without them, the start of an app takes a third less
 * CPU time on a machine that sets the variable to its whole bundle.
 */
export function loadMiniflare(): typeof miniflareLibrary {
  // Miniflare reads the environment of the process while it is loaded.
  const { env } = process;
  const certificates = env["NODE_EXTRA_CA_CERTS"];
  delete env["NODE_EXTRA_CA_CERTS"];
  try {
    return require("miniflare") as typeof miniflareLibrary;
  } finally {
    if (certificates !== undefined) env["NODE_EXTRA_CA_CERTS"] = certificates;
  }
}

/**
 * The latest compatibility date that workerd accepts. Miniflare exports the same one, but importing Miniflare takes half a
 * second and 80 MB, which a start without apps does not need.
 */
export function latestCompatibilityDate(): string {
  const today = new Date().toISOString().slice(0, 10);
  return workerd.compatibilityDate < today ? workerd.compatibilityDate : today;
}

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Creates a Miniflare and removes its signal handlers. It would call `process.exit` on SIGTERM, which interrupts the
 * service's graceful shutdown. Its handlers for the exit of the process stay.
 */
export function withoutSignalHandlers<T>(create: () => T): T {
  const before = new Map(SIGNALS.map((signal) => [signal, new Set(process.listeners(signal))]));
  try {
    return create();
  } finally {
    for (const signal of SIGNALS)
      for (const listener of process.listeners(signal))
        if (before.get(signal)?.has(listener) !== true) process.removeListener(signal, listener);
  }
}
