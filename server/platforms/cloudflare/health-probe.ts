import { createHmac } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { NoHandler, ServerError, UnhealthyScript } from "../../../domain/ports/edge-platform.ts";
import { applyMasks } from "../../../domain/shared/secret-masks.ts";
import { requestRoot, type RootResponse } from "./apps-address.ts";
import { boundText } from "./cloudflare-error.ts";
import { PROBE_HEADER, PROBE_RESULT_HEADER } from "./dispatch-worker/edge-entry.ts";

/** How long the app may take to respond: to the first request, and to another one. */
const TIMEOUTS_MS = [10_000, 30_000] as const;
/** How long Cloudflare may take until its locations have a script that was uploaded. */
const MISSING_MS = 30_000;
const MISSING_PAUSE_MS = 250;
const NO_HANDLER = /Handler does not export a fetch\(\) function|^Error: internal error; reference = /;

export interface Probe {
  /** The URL of the app. */
  url: string;
  /** The script that is requested there. */
  script: string;
  secret: string;
  masks: readonly string[];
}

/**
 * Requests `/` of a script through the dispatch worker. Every status below 500 is healthy.
 *
 * @throws {ServerError} with the status, and the error that the script threw
 * @throws {UnhealthyScript} when it does not respond, or cannot
 */
export async function probeHealth(probe: Probe, signal: AbortSignal): Promise<void> {
  const response = await request(probe, TIMEOUTS_MS, signal);
  if (typeof response === "string") throw new UnhealthyScript(response);
  if (response.status < 500) return;
  const result = response.headers[PROBE_RESULT_HEADER];
  if (result === "missing") throw new UnhealthyScript("Cloudflare does not run the app yet. Deploy it again.");
  const reason = result === "failed" ? boundText(applyMasks(response.text, probe.masks)) : null;
  if (reason !== null && NO_HANDLER.test(reason))
    throw new NoHandler("The script exports no handler of requests (fetch).");
  const problem = `The app responded to its health check (GET /) with status ${response.status}`;
  throw new ServerError(reason === null ? `${problem}.` : `${problem}: ${reason}`, {
    printed: reason === null ? [] : [reason],
  });
}

/** Whether a script responds to a request of `/` with a server error, or not at all. */
export async function hasServerError(probe: Probe, signal: AbortSignal): Promise<boolean> {
  const response = await request(probe, TIMEOUTS_MS.slice(0, 1), signal);
  return typeof response === "string" || response.status >= 500;
}

/** Returns the response, or a description of the failure. */
async function request(
  { url, script, secret }: Probe,
  timeoutsMs: readonly number[],
  signal: AbortSignal,
): Promise<RootResponse | string> {
  const signature = createHmac("sha256", secret).update(script).digest("hex");
  const headers = { [PROBE_HEADER]: `${script} ${signature}`, "user-agent": "health-check" };
  const missingUntil = Date.now() + MISSING_MS;
  for (let index = 0; index < timeoutsMs.length;) {
    const timeout = AbortSignal.timeout(timeoutsMs[index] ?? 0);
    try {
      const response = await requestRoot(url, headers, AbortSignal.any([signal, timeout]));
      // Such as of another server, because the domain or the route is wrong.
      if (response.headers[PROBE_RESULT_HEADER] === undefined) return unreachable(`status ${response.status}`);
      if (response.headers[PROBE_RESULT_HEADER] !== "missing" || Date.now() > missingUntil) return response;
      await sleep(MISSING_PAUSE_MS, null, { signal });
    } catch (error) {
      signal.throwIfAborted();
      if (!timeout.aborted)
        return unreachable(error instanceof Error && "code" in error ? String(error.code) : "no response");
      index++;
    }
  }
  return `The app did not respond to its health check (GET /) within ${(timeoutsMs.at(-1) ?? 0) / 1000} s.`;
}

function unreachable(reason: string): string {
  return `The dispatch worker does not respond at the address of the app (${reason}). The operator must check APPS_DOMAIN and its route.`;
}
