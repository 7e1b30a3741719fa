import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/**
 * Makes every workerd of this process start through `workerd.sh`, with a bound on the JavaScript heap of each isolate.
 *
 * Miniflare takes both from the process's environment and offers no option for them, so this is the one place that
 * writes to it. A Miniflare that was not started by `WorkerdLauncher` gets the plain binary from the script.
 */
export function sandboxMiniflare(): void {
  // oxlint-disable-next-line node/no-process-env -- read by Miniflare, see above
  Object.assign(process.env, {
    MINIFLARE_WORKERD_PATH: fileURLToPath(new URL("./workerd.sh", import.meta.url)),
    MINIFLARE_WORKERD_V8_FLAGS: `--max-old-space-size=${HEAP_MB}`,
    EDGE_WORKERD: workerd.default,
  });
}

/** The package has no type declarations. */
const workerd = createRequire(import.meta.url)("workerd") as {
  /** The path of the binary for this machine. */
  default: string;
  compatibilityDate: string;
};

/**
 * The latest compatibility date that the runtime accepts. Miniflare exports the same one, but importing Miniflare costs
 * half a second and 80 MB, which a start without apps does not need.
 */
export function latestCompatibilityDate(): string {
  const today = new Date().toISOString().slice(0, 10);
  return workerd.compatibilityDate < today ? workerd.compatibilityDate : today;
}

/** The heap an isolate of the production platform has. */
const HEAP_MB = 128;

const SIGNALS = ["SIGINT", "SIGTERM"] as const;

/**
 * Makes a Miniflare that leaves the process's signals alone. By itself it answers SIGTERM with `process.exit`, which
 * would cut the service's own orderly stop short. What it does when the process exits stays.
 */
export function withoutSignalHandlers<T>(make: () => T): T {
  const before = new Map(SIGNALS.map((signal) => [signal, new Set(process.listeners(signal))]));
  try {
    return make();
  } finally {
    for (const signal of SIGNALS)
      for (const listener of process.listeners(signal))
        if (before.get(signal)?.has(listener) !== true) process.removeListener(signal, listener);
  }
}
