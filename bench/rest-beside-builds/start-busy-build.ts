import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceProcess } from "../support/start-servers.ts";
import { LOOP_MARK } from "./busy-repository.ts";

const POLL_MS = 200;

/** Deploys a repository in an organization of its own. Returns a function that deletes the app, which ends its build. */
export async function startBusyBuild(
  service: ServiceProcess,
  repo: string,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { api_key: apiKey } = await service.call("createOrganization");
  const url = `${await service.call("publicUrl")}/v1/apps`;
  const headers = { authorization: `Bearer ${apiKey}`, "content-type": "application/json" };
  const response = await fetch(`${url}/deploy`, { method: "POST", headers, body: JSON.stringify({ repo }), signal });
  if (response.status !== 201) throw new Error(`The deploy request returned ${response.status}.`);
  const { app_id: id } = (await response.json()) as { app_id: string };
  return async () =>
    void (await fetch(`${url}/${id}`, { method: "DELETE", headers: { authorization: headers.authorization } }));
}

/** Waits until `count` shells of busy builds run on this machine. @throws after 60 s */
export async function waitForBusyShells(count: number, signal: AbortSignal): Promise<void> {
  for (let waitedMs = 0; (await countBusyShells()) < count; waitedMs += POLL_MS) {
    if (waitedMs > 60_000) throw new Error(`Only ${await countBusyShells()} of ${count} shells are running.`);
    await sleep(POLL_MS, undefined, { signal });
  }
}

async function countBusyShells(): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return lines.filter((line) => line.startsWith("sh\0-c\0") && line.includes(LOOP_MARK)).length;
}
