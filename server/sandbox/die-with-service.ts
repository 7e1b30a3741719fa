import { spawnSync } from "node:child_process";
import { isRoot } from "./file-ownership.ts";
import { findTool, TOOL_ENVIRONMENT } from "./system-tools.ts";

const UNSHARE = ["--mount", "--pid", "--mount-proc", "--fork", "--kill-child=KILL", "--"] as const;
const UNSHARE_AS_USER = ["--user", "--map-current-user", ...UNSHARE] as const;

let mayUnshare: boolean | undefined;

/**
 * The start of the command line of a sandbox: a pid namespace that dies with the thread that starts it. Two hazards
 * make it necessary. bubblewrap leaves a process behind if it is killed while it creates a sandbox. After it has
 * dropped root privileges, it cannot kill the process of another user.
 *
 * Some hosts allow only root and bubblewrap to create namespaces. There, a service that does not run as root and is
 * killed while a sandbox starts may leave a process of bubblewrap that waits forever. It never runs the command.
 */
export function dieWithService(): string[] {
  const tied = ["setpriv", "--pdeathsig", "KILL", "--"];
  if (isRoot()) return [...tied, "unshare", ...UNSHARE];
  mayUnshare ??= canUnshare();
  return mayUnshare ? [...tied, "unshare", ...UNSHARE_AS_USER] : tied;
}

function canUnshare(): boolean {
  const tool = findTool("unshare");
  return tool !== null && spawnSync(tool, [...UNSHARE_AS_USER, "true"], { env: TOOL_ENVIRONMENT }).status === 0;
}
