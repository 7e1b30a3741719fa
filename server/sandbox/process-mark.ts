import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { killIfExists } from "./kill-process.ts";

const VARIABLE = "SANDBOX_RUN";
const KILL_TIMEOUT_MS = 5000;

/** The environment variable that marks a command as part of a run. All processes that it starts inherit the mark. */
export function processMark(runId: string): Record<string, string> {
  return { [VARIABLE]: runId };
}

/**
 * Kills all processes with the mark of a run, including daemons that left the process group. Returns when none exists.
 *
 * @throws when a process still exists after 5 s
 */
export async function killMarked(runId: string): Promise<void> {
  const deadline = Date.now() + KILL_TIMEOUT_MS;
  for (;;) {
    const pids = await markedProcesses(runId);
    if (pids.length === 0) return;
    if (Date.now() > deadline) throw new Error("A process of a killed command still exists");
    for (const pid of pids) killIfExists(pid);
    await sleep(5);
  }
}

async function markedProcesses(runId: string): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0);
  const marked = await Promise.all(pids.map((pid) => hasMark(pid, runId)));
  return pids.filter((_, index) => marked[index]);
}

/** False for a zombie: it has no environment any more. */
async function hasMark(pid: number, runId: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return environment.split("\0").includes(`${VARIABLE}=${runId}`);
}
