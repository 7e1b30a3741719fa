import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { NoHandler, UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import type { WorkerdProcess } from "../workerd/workerd-process.ts";

const TIMEOUT_MS = 10_000;
/** What the runtime reports of a default export without the method `fetch`, or of a script without a default export. */
const NO_HANDLER = /^Error: (Handler does not export a fetch\(\) function|internal error; reference = )/;
/** The app's log arrives through a pipe, and may arrive a little later than its response. */
const LOG_DELAY_MS = 100;

/**
 * Requests `/` from an app. Every status below 500 is healthy.
 *
 * @param host - the Host header that clients of the app will send
 * @throws {UnhealthyScript} with the status, or with the error that the app reported
 */
export async function probeHealth(
  app: Pick<WorkerdProcess, "port" | "output">,
  host: string,
  signal: AbortSignal,
): Promise<void> {
  const result = await requestRoot(app.port, host, signal);
  signal.throwIfAborted();
  if (typeof result === "number" && result < 500) return;
  await sleep(LOG_DELAY_MS, null, { signal });
  const problem =
    typeof result === "number" ? `The app responded to its health check (GET /) with status ${result}` : result;
  const reason = app.output.lastError();
  if (typeof result === "number" && reason !== null && NO_HANDLER.test(reason))
    throw new NoHandler("The script exports no handler of requests (fetch).");
  throw new UnhealthyScript(reason === null ? `${problem}.` : `${problem}: ${reason}`);
}

/** Returns the status, or a description of the failure. */
async function requestRoot(port: number, host: string, signal: AbortSignal): Promise<number | string> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const headers = { host, "user-agent": "health-check" };
  try {
    return await requestStatus({
      port,
      host: "127.0.0.1",
      path: "/",
      agent: false,
      headers,
      signal: AbortSignal.any([signal, timeout]),
    });
  } catch {
    if (timeout.aborted) return `The app did not respond to its health check (GET /) within ${TIMEOUT_MS / 1000} s`;
    return "The app stopped during its health check (GET /)";
  }
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
