import { readdir, readlink, rm, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseUnavailable } from "../database-unavailable.ts";

const GRACE_MS = 10_000;
const POLL_MS = 10;

/**
 * Ends the PostgreSQL processes that a killed service left on `data`. Removes their lock file, which could prevent the
 * next start: its process id may now belong to another program. Only the holder of the folder lock may call this,
 * because the lock guarantees that no other running service uses the folder.
 *
 * @throws {DatabaseUnavailable} when a process does not end
 */
export async function endLeftoverProcesses(data: string): Promise<void> {
  const deadline = Date.now() + GRACE_MS;
  // An immediate shutdown; the next start recovers from the write-ahead log.
  let signal: NodeJS.Signals = "SIGQUIT";
  for (let pids = await processesIn(data); pids.length > 0; pids = await processesIn(data)) {
    if (Date.now() > deadline + GRACE_MS)
      throw new DatabaseUnavailable(`PostgreSQL processes ${pids.join(", ")} still use ${data} and do not end.`);
    if (Date.now() > deadline) signal = "SIGKILL";
    for (const pid of pids) sendSignal(pid, signal);
    await sleep(POLL_MS);
  }
  await rm(path.join(data, "postmaster.pid"), { force: true });
}

/** Every process of a PostgreSQL server works in the server's data folder. */
async function processesIn(data: string): Promise<number[]> {
  const { dev, ino } = await stat(data);
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0);
  const found = await Promise.all(
    pids.map(async (pid) => {
      const folder = await stat(`/proc/${pid}/cwd`).catch(() => null);
      if (folder?.ino !== ino || folder.dev !== dev) return [];
      const program = await readlink(`/proc/${pid}/exe`).catch(() => "");
      return path.basename(program) === "postgres" ? [pid] : [];
    }),
  );
  return found.flat();
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
