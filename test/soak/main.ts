/**
 * Runs 100 clients of 20 organizations against a service for ten minutes, once alone and once while one more organization does all
 * that `npm run test:hostile` does through the APIs, in turn. Prints a table, and exits with 1 if the others noticed it.
 *
 * Usage: npm run test:soak [-- <minutes of each run>]
 */
import { setTimeout as sleep } from "node:timers/promises";
import { HostileEndpoints } from "../../bench/fairness/hostile-endpoints.ts";
import { hostileActs } from "../../bench/fairness/hostile-acts.ts";
import type { HostileCaller } from "../../bench/fairness/hostile-act.ts";
import { startProcess } from "../../bench/support/start-process.ts";
import { type ServiceProcess, startService } from "../../bench/support/start-servers.ts";
import { percentile } from "../../bench/support/statistics.ts";
import { residentMb } from "../../bench/support/process-memory.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import type { ClientCommands, ClientReport } from "./mixed-clients.ts";

const ORGANIZATIONS = 20;
const CLIENTS = 100;
const APPS = 20;
/** When the memory is measured for the first time, as a part of the run: minute 2 of 10. */
const FIRST_MEASUREMENT = 0.2;
const MAX_LIST_RATIO = 3;
const MAX_MEMORY_RATIO = 1.3;

interface SoakResult extends ClientReport {
  firstMb: number;
  lastMb: number;
  /** How many acts of the hostile organization ended. */
  acts: number;
}

async function runSoak(minutes: number, isHostile: boolean): Promise<SoakResult> {
  await using folder = await temporaryFolder();
  const { signal } = new AbortController();
  await using endpoints = await HostileEndpoints.open();
  await using service = await startService({ dataDirectory: folder.path, settings: endpoints.settings }, signal);
  await using clients = await startProcess<ClientCommands>(new URL("mixed-clients.ts", import.meta.url), {}, signal);
  const organizations = await service.call("createOrganizations", ORGANIZATIONS, APPS);
  const url = await service.call("publicUrl");
  await clients.call(
    "begin",
    url,
    organizations.map(({ api_key: apiKey, personal_access_token: personalAccessToken }) => ({
      apiKey,
      personalAccessToken,
    })),
    CLIENTS,
  );
  const stopping = new AbortController();
  const hostile = isHostile ? actInTurn(service, { url, endpoints, signal: stopping.signal }) : Promise.resolve(0);
  const durationMs = minutes * 60_000;
  await sleep(durationMs * FIRST_MEASUREMENT);
  const firstMb = await residentMb(service.pid);
  await sleep(durationMs * (1 - FIRST_MEASUREMENT));
  stopping.abort();
  const acts = await hostile;
  const report = await clients.call("end");
  return { ...report, firstMb, lastMb: await residentMb(service.pid), acts };
}

/** Does each hostile act in turn, each with an organization of its own, until `signal` is aborted. */
async function actInTurn(
  service: ServiceProcess,
  { url, endpoints, signal }: Pick<HostileCaller, "url" | "endpoints" | "signal">,
): Promise<number> {
  for (let acts = 0; ; acts++) {
    const act = hostileActs[acts % hostileActs.length];
    if (act === undefined || signal.aborted) return acts;
    const organization = await service.call("createOrganization");
    const { api_key: apiKey, personal_access_token: personalAccessToken } = organization;
    act.prepare?.();
    try {
      await act.run({ url, apiKey, personalAccessToken, endpoints, signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}

const failuresOf = ({ statuses }: ClientReport): number =>
  Object.entries(statuses).reduce((sum, [status, count]) => sum + (isFailure(Number(status)) ? count : 0), 0);

const isFailure = (status: number): boolean => status === 0 || status >= 500;

function formatRow(name: string, result: SoakResult): string {
  const requests = Object.values(result.statuses).reduce((sum, count) => sum + count, 0);
  const list = [0.5, 0.99, 1].map((rank) => `${percentile(result.listMs, rank).toFixed(0)} ms`);
  const memory = `${result.firstMb.toFixed(0)} → ${result.lastMb.toFixed(0)} MB`;
  return `| ${[name, result.acts, requests, failuresOf(result), ...list, memory].join(" | ")} |\n`;
}

const minutes = Number(process.argv[2] ?? 10);
process.stdout.write(
  "| Run | Hostile acts | Requests of the others | of these 5xx | `GET /v1/apps` p50 | p99 | slowest | Memory at minute 2 and at the end |\n|---|---|---|---|---|---|---|---|\n",
);
const alone = await runSoak(minutes, false);
process.stdout.write(formatRow("alone", alone));
const beside = await runSoak(minutes, true);
process.stdout.write(formatRow("beside a hostile organization", beside));
for (const result of [alone, beside])
  for (const [status, example] of Object.entries(result.examples)) process.stdout.write(`${status}: ${example}\n`);

const listRatio = percentile(beside.listMs, 0.99) / percentile(alone.listMs, 0.99);
const memoryRatio = beside.lastMb / beside.firstMb;
const isFair = failuresOf(beside) === 0 && listRatio <= MAX_LIST_RATIO && memoryRatio <= MAX_MEMORY_RATIO;
process.stdout.write(
  `\np99 of GET /v1/apps: ${listRatio.toFixed(2)} × that of the run without (≤ ${MAX_LIST_RATIO}); memory at the end: ${memoryRatio.toFixed(2)} × that of minute 2 (≤ ${MAX_MEMORY_RATIO}); ${isFair ? "passed" : "FAILED"}\n`,
);
process.exitCode = isFair ? 0 : 1;
