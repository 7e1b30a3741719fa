import { Worker } from "node:worker_threads";

/**
 * Prints the elapsed time once per second until the returned function is called, so that a slow start is not silent. It uses
 * a thread of its own: loading the modules of the service blocks this one for seconds on a busy machine.
 */
export function showStartProgress(): () => Promise<unknown> {
  const worker = new Worker(new URL("./print-progress.mjs", import.meta.url), { execArgv: [] });
  worker.unref();
  return () => worker.terminate();
}
