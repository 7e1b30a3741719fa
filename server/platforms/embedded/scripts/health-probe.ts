import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { NoHandler, ServerError, UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import type { WorkerdProcess } from "../workerd/workerd-process.ts";

/** How long the app may take to respond: to the first request, and to another one, because the machine may have been busy. */
const TIMEOUTS_MS = [10_000, 30_000] as const;
/** What the runtime reports of a default export without the method `fetch`, or of a script without a default export. */
const NO_HANDLER = /^Error: (Handler does not export a fetch\(\) function|internal error; reference = )/;
/** The app's log arrives through a pipe, and may arrive a little later than its response. */
const LOG_DELAY_MS = 100;

export interface ProbeOptions {
  /** The Host header that clients of the app will send. */
  host: string;
  timeoutsMs?: readonly number[];
}

/**
 * Requests `/` from an app. Every status below 500 is healthy.
 *
 * @throws {ServerError} with the status, and the error that the app reported
 * @throws {UnhealthyScript} when it does not respond, or cannot
 */
export async function probeHealth(
  app: Pick<WorkerdProcess, "port" | "output">,
  { host, timeoutsMs = TIMEOUTS_MS }: ProbeOptions,
  signal: AbortSignal,
): Promise<void> {
  const result = await requestRoot(app.port, { host, timeoutsMs }, signal);
  signal.throwIfAborted();
  if (typeof result === "number" && result < 500) return;
  await sleep(LOG_DELAY_MS, null, { signal });
  const reason = app.output.lastError();
  const details = { printed: app.output.firstLines() };
  if (typeof result === "string")
    throw new UnhealthyScript(reason === null ? `${result}.` : `${result}: ${reason}`, details);
  if (reason !== null && NO_HANDLER.test(reason))
    throw new NoHandler("The script exports no handler of requests (fetch).");
  const problem = `The app responded to its health check (GET /) with status ${result}`;
  throw new ServerError(reason === null ? `${problem}.` : `${problem}: ${reason}`, details);
}

/** Whether an app responds to a request of `/` with a server error, or not at all. */
export async function hasServerError(port: number, host: string, signal: AbortSignal): Promise<boolean> {
  const result = await requestRoot(port, { host, timeoutsMs: TIMEOUTS_MS.slice(0, 1) }, signal);
  return typeof result === "string" || result >= 500;
}

/** Returns the status, or a description of the failure. */
async function requestRoot(
  port: number,
  { host, timeoutsMs }: Required<ProbeOptions>,
  signal: AbortSignal,
): Promise<number | string> {
  for (const timeoutMs of timeoutsMs) {
    const timeout = AbortSignal.timeout(timeoutMs);
    const headers = { host, "user-agent": "health-check" };
    const request = { port, host: "127.0.0.1", path: "/", agent: false, headers } as const;
    try {
      return await requestStatus({ ...request, signal: AbortSignal.any([signal, timeout]) });
    } catch {
      signal.throwIfAborted();
      if (!timeout.aborted) return "The app stopped during its health check (GET /)";
    }
  }
  return `The app did not respond to its health check (GET /) within ${(timeoutsMs.at(-1) ?? 0) / 1000} s`;
}

function requestStatus(options: http.RequestOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.get(options, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.on("error", reject);
  });
}
