import { setTimeout as sleep } from "node:timers/promises";
import { firstDescendant, isRunning } from "./process-tree.ts";
import { runTool } from "./run-tool.ts";
import type { StartProcess } from "./start-process.ts";

/** How long a sandbox may take to create its pid namespace before we give up waiting for it. */
const CREATION_TIMEOUT_MS = 5000;
/** How long the kernel may take to remove killed processes. */
const KILL_TIMEOUT_MS = 10_000;
const POLL_MS = 2;

/** Sends SIGKILL to a process, or to the process group `-pid`. Succeeds if it does not exist. */
export function killIfExists(pid: number): void {
  signalIfExists(pid, "SIGKILL");
}

/** As `killIfExists`, with another signal. */
export function signalIfExists(pid: number, signal: "SIGKILL" | "SIGTERM"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/**
 * Kills all processes of a sandbox. Below the process that we started is the init of a pid namespace. When the init dies,
 * the kernel kills the rest of the namespace, and the process that we started ends after it.
 *
 * Until there is an init, a process is about to create the namespace. Killing it in that moment could leave its child
 * behind, so this function waits for the init.
 *
 * @param pid - the process that we started
 * @param hasExited - whether that process has been reaped, so that its pid may belong to another process
 * @param initDepth - how many levels below that process the init is
 * @throws when a process still exists after 10 s
 */
export async function killSandbox(pid: number, hasExited: () => boolean, initDepth = 1): Promise<void> {
  const startedAt = Date.now();
  while (!hasExited() && isRunning(pid)) {
    const waitedMs = Date.now() - startedAt;
    if (waitedMs > KILL_TIMEOUT_MS) throw new Error(`Process ${pid} cannot be killed`);
    const init = firstDescendant(pid, initDepth);
    if (init !== null) killIfExists(init);
    else if (waitedMs > CREATION_TIMEOUT_MS) killIfExists(pid);
    await sleep(POLL_MS);
  }
}

/** Kills all processes of a user id, which one sandbox has alone. Only root can. */
export async function killProcessesOf(uid: number, startProcess: StartProcess): Promise<void> {
  const user = [`--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "--"];
  // The shell does not signal itself. It fails when there is no such process.
  await runTool(startProcess, ["setpriv", ...user, "sh", "-c", "kill -KILL -1 2>/dev/null; true"]);
}

/** Kills a process and waits until it has ended. See `killSandbox` for `hasExited`. */
export async function killProcess(pid: number, hasExited: () => boolean): Promise<void> {
  if (hasExited()) return;
  killIfExists(pid);
  await untilEnded(pid);
}

/** Waits until a killed process has ended. @throws when it still exists after 10 s */
export async function untilEnded(pid: number): Promise<void> {
  const startedAt = Date.now();
  while (isRunning(pid)) {
    if (Date.now() - startedAt > KILL_TIMEOUT_MS) throw new Error(`Process ${pid} cannot be killed`);
    await sleep(POLL_MS);
  }
}
