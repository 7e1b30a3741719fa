import assert from "node:assert/strict";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { deployApp } from "../support/deploy-app.ts";
import { anonymousMb, descendantsMb } from "../support/process-memory.ts";
import { type Service, startService } from "../support/start-servers.ts";
import type { Bench, Figure } from "../support/bench-section.ts";
import { visit } from "../support/request-app.ts";

const APPS = 10;
/** What the service loads for its first apps, it loads once. */
const FIRST_APPS = 2;
const TARGET_MB = 60;
/** How long everything is left in peace before it is measured. */
const SETTLE_MS = 2_000;

/** What an app costs that is active and idle: its processes, and what the service keeps for it. */
export async function measureActiveApps({ folder, signal, say }: Bench): Promise<Figure> {
  const dataDirectory = path.join(folder, "active");
  const slugs = await deployAll(dataDirectory, signal);
  say(`deployed ${slugs.length} apps`);
  await using service = await startService({ dataDirectory }, signal);
  await visitAll(service, slugs.slice(0, FIRST_APPS), signal);
  const before = await settledMb(service, signal);
  await visitAll(service, slugs.slice(FIRST_APPS), signal);
  const growth = ((await settledMb(service, signal)) - before) / (APPS - FIRST_APPS);
  const { children, mb } = await descendantsMb(service.pid);
  assert.equal(children, APPS, "every app has a process, and the service has no other");
  const perApp = mb / APPS + growth;
  return {
    what: "An active, idle app",
    measured: `${perApp.toFixed(0)} MB`,
    target: { bound: `≤ ${TARGET_MB} MB`, met: perApp <= TARGET_MB },
    detail: `${(mb / APPS).toFixed(1)} MB its processes, ${growth.toFixed(1)} MB the service's growth`,
  };
}

/** By a service that ends then: what deploying leaves on its heap is no cost of the apps. */
async function deployAll(dataDirectory: string, signal: AbortSignal): Promise<string[]> {
  await using service = await startService({ dataDirectory }, signal);
  const slugs: string[] = [];
  while (slugs.length < APPS) slugs.push((await deployApp(service, "hello", signal)).slug);
  return slugs;
}

async function visitAll(service: Service, slugs: string[], signal: AbortSignal): Promise<void> {
  for (const slug of slugs) await visit(await service.ask("urlOf", slug), signal);
}

async function settledMb(service: Service, signal: AbortSignal): Promise<number> {
  await sleep(SETTLE_MS, null, { signal });
  await service.ask("usedMb");
  return anonymousMb(service.pid);
}
