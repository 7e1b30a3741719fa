import http from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { UnhealthyScript } from "../../../../domain/ports/edge-platform.ts";
import type { WorkerdProcess } from "../workerd/workerd-process.ts";

const TIMEOUT_MS = 10_000;
/** What the app logs takes another way than its answer and may come a little later. */
const LOG_DELAY_MS = 100;

/**
 * Asks the app for `/` and takes any answer below 500 as healthy.
 *
 * @param host - the Host header, as visitors will send it
 * @throws {UnhealthyScript} with the status, or what the app reported while failing
 */
export async function probeHealth(
  app: Pick<WorkerdProcess, "port" | "output">,
  host: string,
  signal: AbortSignal,
): Promise<void> {
  const finding = await ask(app.port, host, signal);
  signal.throwIfAborted();
  if (typeof finding === "number" && finding < 500) return;
  await sleep(LOG_DELAY_MS, null, { signal });
  const reason = app.output.lastError();
  const seen =
    typeof finding === "number" ? `The app answered its health check (GET /) with status ${finding}` : finding;
  throw new UnhealthyScript(reason === null ? `${seen}.` : `${seen}: ${reason}`);
}

/** The status, or what happened instead. */
async function ask(port: number, host: string, signal: AbortSignal): Promise<number | string> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await statusOf(
      { port, host: "127.0.0.1", path: "/", agent: false, headers: { host, "user-agent": "health-check" } },
      [signal, timeout],
    );
  } catch {
    if (timeout.aborted) return `The app did not answer its health check (GET /) within ${TIMEOUT_MS / 1000} s`;
    return "The app stopped during its health check (GET /)";
  }
}

function statusOf(options: http.RequestOptions, signals: AbortSignal[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = http.get({ ...options, signal: AbortSignal.any(signals) }, (response) => {
      resolve(response.statusCode ?? 0);
      response.destroy();
    });
    request.on("error", reject);
  });
}
