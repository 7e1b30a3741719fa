import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** A process and everything below it, as the kernel sees it now; the first is the root, the last a leaf. */
export async function processTree(root: number): Promise<number[]> {
  const text = await readFile(`/proc/${root}/task/${root}/children`, "utf8").catch(() => "");
  const children = text.trim().split(" ").filter(Boolean).map(Number);
  return [root, ...(await Promise.all(children.map(processTree))).flat()];
}

/** Resident memory of the given processes together, in MB; what is gone counts nothing. */
export async function residentMb(pids: readonly number[]): Promise<number> {
  const sizes = await Promise.all(pids.map(residentKb));
  return sizes.reduce((sum, kb) => sum + kb, 0) / 1024;
}

async function residentKb(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0);
}

/**
 * Ends a process and everything below it, from the leaves up, so that each parent sees its child end and no zombie is
 * left to an init that may not care. When it returns, all that they held open is closed.
 *
 * @throws when something cannot be killed within 10 s
 */
export async function endTree(root: number): Promise<void> {
  const startedAt = Date.now();
  while (await runs(root)) {
    if (Date.now() - startedAt > 10_000) throw new Error(`Process ${root} cannot be killed`);
    const leaf = (await processTree(root)).at(-1) ?? root;
    kill(leaf);
    await sleep(2);
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** A zombie has closed everything; only its parent's `wait` is missing. */
async function runs(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat !== "" && !/^\d+ \(.*\) [ZX]/s.test(stat);
}
