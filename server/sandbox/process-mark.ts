import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

const MARK = "SANDBOX_RUN";
const PATIENCE_MS = 5000;

/** The variable that marks a command, and by inheritance all it starts, as belonging to one run. */
export function markOf(run: string): Record<string, string> {
  return { [MARK]: run };
}

/**
 * Kills whatever still carries the mark of a run, such as a daemon that left the process group, and returns when
 * there is nothing of it any more.
 *
 * @throws when something is still left after some seconds
 */
export async function killMarked(run: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const pids = await marked(run);
    if (pids.length === 0) return;
    if (Date.now() > deadline) throw new Error("A killed command is still there");
    for (const pid of pids) killIfThere(pid);
    await sleep(5);
  }
}

export function killIfThere(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

async function marked(run: string): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0);
  const carries = await Promise.all(pids.map((pid) => carriesMark(pid, run)));
  return pids.filter((_, index) => carries[index]);
}

/** A zombie has no environment left, so it does not count. */
async function carriesMark(pid: number, run: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return environment.split("\0").includes(`${MARK}=${run}`);
}
