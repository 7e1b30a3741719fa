import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type BenchContext, formatInteger, type Metric } from "../support/bench-section.ts";
import { measureAlternately, measureTime } from "../support/measure-alternately.ts";
import { proportionalMb } from "../support/process-memory.ts";
import { requestApp } from "../support/request-app.ts";
import { startService } from "../support/start-servers.ts";
import { median } from "../support/statistics.ts";

const APPS = 1_000;
const ROUNDS = 5;
const TARGET_MB = 1;
/** Long enough for the sweep that runs after every start. */
const SETTLE_MS = 2_000;

/** Measures the memory of apps that get no requests, and whether such an app still responds to its first request. */
export async function measureInactiveApps(context: BenchContext): Promise<Metric[]> {
  const empty = path.join(context.folder, "empty");
  const full = path.join(context.folder, "full");
  await insertApps(empty, 0, context.signal);
  const slugs = await insertApps(full, APPS, context.signal);
  context.log(`registered ${slugs.length} apps`);
  return [await measureGrowth(empty, full, context), await measureFirstRequest(full, slugs, context.signal)];
}

/** Uses a service of its own: the heap that the inserts leave behind must not count as memory of the apps. */
async function insertApps(dataDirectory: string, count: number, signal: AbortSignal): Promise<string[]> {
  await using service = await startService({ dataDirectory }, signal);
  const { org_id: orgId } = await service.call("createOrganization");
  return await service.call("insertLiveApps", orgId, count);
}

async function measureGrowth(empty: string, full: string, { signal, log }: BenchContext): Promise<Metric> {
  const processMb = { empty: [] as number[], full: [] as number[] };
  const measure = (dataDirectory: string, processSamples: number[]) => async (): Promise<number> => {
    await using service = await startService({ dataDirectory }, signal);
    await sleep(SETTLE_MS, null, { signal });
    const usedMb = await service.call("collectGarbage");
    processSamples.push(await proportionalMb(service.pid));
    return usedMb;
  };
  const pairs = await measureAlternately(ROUNDS, {
    service: measure(full, processMb.full),
    baseline: measure(empty, processMb.empty),
  });
  const growths = pairs.map(({ service, baseline }) => service - baseline);
  log(`growth: ${growths.map((mb) => mb.toFixed(2)).join(", ")} MB`);
  const growth = median(growths);
  return {
    name: `Growth of the service with ${formatInteger(APPS)} registered, inactive apps`,
    result: `${growth.toFixed(2)} MB`,
    target: { bound: `none (< ${TARGET_MB} MB)`, met: growth < TARGET_MB },
    details: `heap and external memory; PSS of the process ${formatRange(processMb.full)} MB with the apps, ${formatRange(processMb.empty)} MB without`,
  };
}

/** A range, because the size of the process varies between starts by more than the apps need. */
function formatRange(sizes: readonly number[]): string {
  return `${formatInteger(Math.min(...sizes))}–${formatInteger(Math.max(...sizes))}`;
}

async function measureFirstRequest(dataDirectory: string, slugs: string[], signal: AbortSignal): Promise<Metric> {
  await using service = await startService({ dataDirectory }, signal);
  const url = await service.call("appUrl", slugs[Math.floor(slugs.length / 2)] ?? "");
  const ms = await measureTime(() => requestApp(url, signal));
  return {
    name: "First request to one of these apps",
    result: `${formatInteger(ms)} ms`,
    target: null,
    details: "the first app that this service started",
  };
}
