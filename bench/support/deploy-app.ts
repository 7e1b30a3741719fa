import { setTimeout as sleep } from "node:timers/promises";
import type { Service } from "./start-servers.ts";

const POLL_MS = 10;

export interface Deployed {
  slug: string;
  /** How long the whole deploy took, and how long the app was seen in each status on the way, in milliseconds. */
  tookMs: number;
  statusMs: Record<string, number>;
  /** Deletes the app again. */
  remove(): Promise<void>;
}

/**
 * Deploys an example over REST and follows its status until it is `ready`, as a client would. Each deploy is made by
 * an organization of its own, because their number is limited.
 *
 * @throws with the build's error when it fails
 */
export async function deployApp(service: Service, example: string, signal: AbortSignal): Promise<Deployed> {
  const { api_key: apiKey } = await service.ask("found");
  const publicUrl = await service.ask("publicUrl");
  const call = async <T>(method: string, target: string, body?: object): Promise<T> => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const init = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${publicUrl}/v1/apps${target}`, init);
    if (!response.ok) throw new Error(`${method} ${target} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const startedAt = performance.now();
  const { app_id: id, slug } = await call<{ app_id: string; slug: string }>("POST", "/deploy", {
    repo: `examples/${example}`,
  });
  const statusMs = await follow(() => call("GET", `/${id}`), startedAt);
  const tookMs = performance.now() - startedAt;
  return { slug, tookMs, statusMs, remove: async () => void (await call("DELETE", `/${id}`)) };
}

async function follow(
  look: () => Promise<{ status: string; error: string | null }>,
  startedAt: number,
): Promise<Record<string, number>> {
  const statusMs: Record<string, number> = {};
  let seenAt = startedAt;
  for (;;) {
    const { status, error } = await look();
    if (status === "failed") throw new Error(`The build failed: ${error}`);
    const now = performance.now();
    // What has passed since the last look goes to the status found now: it came up in between.
    statusMs[status] = (statusMs[status] ?? 0) + now - seenAt;
    seenAt = now;
    if (status === "ready") return statusMs;
    await sleep(POLL_MS);
  }
}
