import { readFileSync } from "node:fs";
import { childrenOf } from "./process-tree.ts";

/** The bit of SIGTERM in the masks of `/proc/<pid>/status`. */
const SIGTERM_BIT = 1n << 14n;

/**
 * A package manager that runs a script. It also handles SIGTERM, but passes it on to a shell, which dies at once, and the
 * sandbox would end with it. npm shows its title in place of its command line.
 */
const PACKAGE_MANAGER = /(?:^|\/)(?:npm|npx|npm-cli|npx-cli|pnpm|pnpx|yarn|yarnpkg|corepack|bun|bunx)(?:\.[cm]?js)?$/;

/**
 * Sends SIGTERM to the processes of a tree that handle it. The processes below one of them get none, as in a container: a
 * server stops its workers itself. Shells and package managers are passed over.
 *
 * Each process is found, checked and signalled without a pause, so that its pid cannot belong to another process by then.
 *
 * @returns the processes that got the signal
 */
export function terminateProcesses(rootPid: number): number[] {
  return terminateTree(rootPid, null);
}

function terminateTree(pid: number, parent: number | null): number[] {
  const isSkipped = isPackageManager(pid);
  const status = readText(pid, "status");
  // An orphan has got the init of its namespace as its parent.
  if (parent !== null && Number(field(status, "PPid")) !== parent) return [];
  if (isSkipped || !handlesTerm(status)) return childrenOf(pid).flatMap((child) => terminateTree(child, pid));
  return sendTerm(pid) ? [pid] : [];
}

function handlesTerm(status: string): boolean {
  return (BigInt(`0x${field(status, "SigCgt") ?? "0"}`) & SIGTERM_BIT) !== 0n;
}

function field(status: string, name: "PPid" | "SigCgt"): string | undefined {
  return new RegExp(`^${name}:\\s+(\\w+)$`, "m").exec(status)?.[1];
}

/** Reads the program, or the title, and the file that Node.js runs. */
function isPackageManager(pid: number): boolean {
  const [program = "", ...args] = readText(pid, "cmdline").split("\0");
  const file = args.find((word) => !word.startsWith("-")) ?? "";
  return [program.split(" ", 1)[0] ?? "", file].some((name) => PACKAGE_MANAGER.test(name));
}

function sendTerm(pid: number): boolean {
  try {
    return process.kill(pid, "SIGTERM");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    return false;
  }
}

/** Empty when the process has ended. */
function readText(pid: number, file: "status" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}
