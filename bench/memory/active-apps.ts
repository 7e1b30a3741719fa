import assert from "node:assert/strict";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { BenchContext, Metric } from "../support/bench-section.ts";
import { deployApp } from "../support/deploy-app.ts";
import { anonymousMb, descendantsMb } from "../support/process-memory.ts";
import { requestApp } from "../support/request-app.ts";
import { type ServiceProcess, startService } from "../support/start-servers.ts";

const APPS = 10;
/** The first apps make the service load modules that it loads only once, so they are not part of its growth. */
const FIRST_APPS = 2;
const TARGET_MB = 60;
/** The idle time before each measurement. */
const SETTLE_MS = 2_000;

/** Measures the memory of an active, idle app: its processes, and what the service stores for it. */
export async function measureActiveApps({ folder, signal, log }: BenchContext): Promise<Metric> {
  const dataDirectory = path.join(folder, "active");
  const slugs = await deployApps(dataDirectory, signal);
  log(`deployed ${slugs.length} apps`);
  await using service = await startService({ dataDirectory }, signal);
  await settledMb(service, signal);
  // The embedded PostgreSQL is a descendant of the service too.
  const others = await descendantsMb(service.pid);
  await requestApps(service, slugs.slice(0, FIRST_APPS), signal);
  const before = await settledMb(service, signal);
  await requestApps(service, slugs.slice(FIRST_APPS), signal);
  const growth = ((await settledMb(service, signal)) - before) / (APPS - FIRST_APPS);
  const all = await descendantsMb(service.pid);
  assert.equal(all.children - others.children, APPS, "every app has one process");
  const processesMb = (all.mb - others.mb) / APPS;
  const perApp = processesMb + growth;
  return {
    name: "Memory of an active, idle app",
    result: `${perApp.toFixed(0)} MB`,
    target: { bound: `≤ ${TARGET_MB} MB`, met: perApp <= TARGET_MB },
    details: `processes ${processesMb.toFixed(1)} MB, growth of the service ${growth.toFixed(1)} MB`,
  };
}

/** Uses a service of its own: the heap that deployments leave behind must not count as memory of the apps. */
async function deployApps(dataDirectory: string, signal: AbortSignal): Promise<string[]> {
  await using service = await startService({ dataDirectory }, signal);
  const slugs: string[] = [];
  while (slugs.length < APPS) slugs.push((await deployApp(service, "hello", signal)).slug);
  return slugs;
}

async function requestApps(service: ServiceProcess, slugs: string[], signal: AbortSignal): Promise<void> {
  for (const slug of slugs) await requestApp(await service.call("appUrl", slug), signal);
}

async function settledMb(service: ServiceProcess, signal: AbortSignal): Promise<number> {
  await sleep(SETTLE_MS, null, { signal });
  await service.call("collectGarbage");
  return anonymousMb(service.pid);
}
