import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { NoHandler, ServerError, UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import { ownRequestHeaders } from "../../../http/edge/forwarded-headers.ts";
import type { AppAddress } from "../../../ports/app-address.ts";
import type { AppProcess } from "../app-process.ts";
import { NOT_HANDLED } from "../workerd/workerd-output.ts";

/** How long the app may take to respond: to the first request, and to another one, because the machine may have been busy. */
const TIMEOUTS_MS = [10_000, 30_000] as const;
/** What the runtime reports of a default export without the method `fetch`, or of a script without a default export. */
const NO_HANDLER = new RegExp(`^(Error: Handler does not export a fetch\\(\\) function|${NOT_HANDLED})`);
/** The app's log arrives through a pipe, and may arrive a little later than its response. */
const LOG_DELAY_MS = 100;
/** How long the rest of a streamed response is read, because an app that streams can fail after it has sent the status. */
const STREAM_TIMEOUT_MS = 2_000;

export interface ProbeOptions {
  /** The URL at which clients will request the app. */
  url: string;
  timeoutsMs?: readonly number[];
}

/** What a healthy app printed and responded. */
export interface ProbeResult {
  /** The first lines, and the last error. */
  printed: string[];
  /** See `Publication`. */
  redirectsToHttps: boolean;
}

/**
 * Requests `/` from an app. Every status below 500 is healthy.
 *
 * @throws {ServerError} with the status, and the error that the app reported
 * @throws {UnhealthyScript} when it does not respond, or cannot
 */
export async function probeHealth(
  app: Pick<AppProcess, "address" | "output">,
  { url, timeoutsMs = TIMEOUTS_MS }: ProbeOptions,
  signal: AbortSignal,
): Promise<ProbeResult> {
  const result = await requestRoot(app.address, { url, timeoutsMs }, signal);
  signal.throwIfAborted();
  const isHealthy = typeof result !== "string" && result.status < 500;
  const redirectsToHttps = isHealthy && isSecured(url, result.location);
  if (isHealthy && !result.isStreamed) return { printed: app.output.firstLines(), redirectsToHttps };
  await sleep(LOG_DELAY_MS, null, { signal });
  const reason = app.output.lastError();
  const details = { printed: app.output.firstLines() };
  if (isHealthy) return { printed: reason === null ? details.printed : [...details.printed, reason], redirectsToHttps };
  if (typeof result === "string")
    throw new UnhealthyScript(reason === null ? `${result}.` : `${result}: ${reason}`, details);
  if (reason !== null && NO_HANDLER.test(reason))
    throw new NoHandler("The script exports no handler of requests (fetch).");
  const problem = `The app responded to its health check (GET /) with status ${result.status}`;
  const message = reason === null ? `${problem}.` : `${problem}: ${reason}`;
  throw result.hasStarted ? new ServerError(message, details) : new UnhealthyScript(message, details);
}

/** Whether an app responds to a request of `/` with a server error, or not at all. */
export async function hasServerError(address: AppAddress, url: string, signal: AbortSignal): Promise<boolean> {
  const result = await requestRoot(address, { url, timeoutsMs: TIMEOUTS_MS.slice(0, 1) }, signal);
  return typeof result === "string" || result.status >= 500;
}

/** Whether a location is the same host as a URL with http, but with https. */
function isSecured(url: string, location: string | undefined): boolean {
  const { protocol, hostname } = new URL(url);
  const target = URL.parse(location ?? "");
  return protocol === "http:" && target?.protocol === "https:" && target.hostname === hostname;
}

interface RootResponse {
  status: number;
  /** `false` when a Node server that is served as a Worker failed before it listened. */
  hasStarted: boolean;
  /** Whether the app sent its response in parts. */
  isStreamed: boolean;
  /** The header of a redirect. */
  location: string | undefined;
}

/** Returns the response, or a description of the failure. */
async function requestRoot(
  address: AppAddress,
  { url, timeoutsMs }: Required<ProbeOptions>,
  signal: AbortSignal,
): Promise<RootResponse | string> {
  const headers = { ...ownRequestHeaders(url), "user-agent": "health-check" };
  for (const timeoutMs of timeoutsMs) {
    const timeout = AbortSignal.timeout(timeoutMs);
    const options = { ...address, path: "/", agent: false, headers } as const;
    try {
      return await request({ ...options, signal: AbortSignal.any([signal, timeout]) });
    } catch {
      signal.throwIfAborted();
      if (!timeout.aborted) return "The app stopped during its health check (GET /)";
    }
  }
  return `The app did not respond to its health check (GET /) within ${(timeoutsMs.at(-1) ?? 0) / 1000} s`;
}

function request(options: http.RequestOptions): Promise<RootResponse> {
  return new Promise((resolve, reject) => {
    const sent = http.get(options, (response) => {
      const { statusCode = 0, headers } = response;
      const isStreamed = headers["transfer-encoding"] !== undefined && statusCode < 500;
      const timeout = setTimeout(() => response.destroy(), STREAM_TIMEOUT_MS);
      response.on("error", () => {});
      response.on("close", () => {
        clearTimeout(timeout);
        const hasStarted = headers["x-server-start"] !== "failed";
        resolve({ status: statusCode, hasStarted, isStreamed, location: headers.location });
      });
      if (isStreamed) response.resume();
      else response.destroy();
    });
    sent.on("error", reject);
  });
}
