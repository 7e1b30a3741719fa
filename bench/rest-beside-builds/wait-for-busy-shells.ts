import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { LOOP_MARK } from "./busy-repository.ts";

const POLL_MS = 200;

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
