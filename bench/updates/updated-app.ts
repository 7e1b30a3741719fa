import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "../support/start-servers.ts";

const POLL_MS = 10;

/** An app of an organization of its own. Each function returns when the deployment is `ready`. */
export interface UpdatedApp extends AsyncDisposable {
  url: string;
  redeploy(): Promise<void>;
  rollBack(number: number): Promise<void>;
  readLog(number: number): Promise<string>;
}

/** Deploys a repository in a new organization, which has no stored dependencies. */
export async function deployForUpdates(
  service: ServiceProcess,
  repo: string,
  signal: AbortSignal,
): Promise<UpdatedApp> {
  const { api_key: apiKey } = await service.call("createOrganization");
  const publicUrl = await service.call("publicUrl");
  const send = async (method: string, target: string, body?: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${apiKey}`, ...(body && { "content-type": "application/json" }) };
    const init = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${publicUrl}/v1/apps${target}`, init);
    if (!response.ok) throw new Error(`${method} ${target} returned ${response.status}: ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  const { app_id: id, url } = await send("POST", "/deploy", { repo });
  const deployments = `/${String(id)}/deployments`;
  const untilReady = async (number: unknown): Promise<void> => {
    for (;;) {
      const { status, error } = await send("GET", `${deployments}/${String(number)}`);
      if (status === "ready") return;
      if (status === "failed") throw new Error(`Deployment ${String(number)} failed: ${String(error)}`);
      await sleep(POLL_MS, undefined, { signal });
    }
  };
  await untilReady(1);
  return {
    url: String(url),
    redeploy: async () => untilReady((await send("POST", deployments, {}))["number"]),
    rollBack: async (number) => untilReady((await send("POST", `/${String(id)}/rollback`, { number }))["number"]),
    readLog: async (number) => String((await send("GET", `${deployments}/${number}/logs`))["logs"]),
    [Symbol.asyncDispose]: async () => void (await send("DELETE", `/${String(id)}`)),
  };
}
