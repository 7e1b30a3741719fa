import type { Capabilities } from "../../routers/core/context.ts";
import type { Foundation } from "./foundation.ts";

/** How long a call that changes a variable waits until the app has restarted, in milliseconds. */
const RESTART_WAIT_MS = 10_000;

export function createVariables({ database, queue, variableCipher }: Foundation): Capabilities["variables"] {
  const { em, db } = database;
  return { em, db, jobs: queue.jobs, variableCipher, restartWaitMs: RESTART_WAIT_MS };
}
