import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "./start-servers.ts";

const POLL_MS = 10;

export interface DeployedApp {
  slug: string;
  /** The duration of the whole deployment. */
  tookMs: number;
  /** The duration of each status, as a client sees it. */
  statusMs: Record<string, number>;
  /** Deletes the app. */
  remove(): Promise<void>;
}

/**
 * Deploys an example over REST and polls its status until it is `ready`. Every deployment belongs to a new organization,
 * because the number of deployments is limited.
 *
 * @throws with the error of the build when it fails
 */
export async function deployApp(
  service: ServiceProcess,
  example: string,
  signal: AbortSignal,
  settings: { customization?: string } = {},
): Promise<DeployedApp> {
  const { api_key: apiKey } = await service.call("createOrganization");
  const publicUrl = await service.call("publicUrl");
  const send = async <T>(method: string, target: string, body?: object): Promise<T> => {
    const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
    const init = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${publicUrl}/v1/apps${target}`, init);
    if (!response.ok) throw new Error(`${method} ${target} returned ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const startedAt = performance.now();
  const { app_id: id, slug } = await send<{ app_id: string; slug: string }>("POST", "/deploy", {
    repo: `examples/${example}`,
    ...settings,
  });
  const statusMs = await pollStatus(() => send("GET", `/${id}`), startedAt);
  const tookMs = performance.now() - startedAt;
  return { slug, tookMs, statusMs, remove: async () => void (await send("DELETE", `/${id}`)) };
}

async function pollStatus(
  readStatus: () => Promise<{ status: string; error: string | null }>,
  startedAt: number,
): Promise<Record<string, number>> {
  const statusMs: Record<string, number> = {};
  let polledAt = startedAt;
  for (;;) {
    const { status, error } = await readStatus();
    if (status === "failed") throw new Error(`The build failed: ${error}`);
    const now = performance.now();
    // The time since the last poll counts for the new status, which began at some moment in between.
    statusMs[status] = (statusMs[status] ?? 0) + now - polledAt;
    polledAt = now;
    if (status === "ready") return statusMs;
    await sleep(POLL_MS);
  }
}
