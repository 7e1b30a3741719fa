import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { TOOL_ENVIRONMENT } from "../system-tools.ts";
import { processesIn } from "./control-group.ts";
import type { Controller } from "./find-hierarchies.ts";

/** The group that the service moves itself to, because a group with processes cannot limit the groups below it. */
const SERVICE_GROUP = "service";

/**
 * Prepares the version 2 group of this process for groups below it, and returns its folder. Moves the processes of the
 * group to a group `service` below it.
 *
 * @param own - the group of this process
 * @throws when the group belongs to another program, or may not be changed
 */
export function delegatedGroup(own: string): string {
  // An earlier start, or systemd's setting `DelegateSubgroup=service`, has moved us already.
  if (path.basename(own) === SERVICE_GROUP && isDelegated(path.dirname(own))) return path.dirname(own);
  if (!isDelegated(own))
    throw new Error(`systemd has not delegated the control group of ${path.basename(own)} to the service`);
  // The root of the whole hierarchy may contain processes. Only it has no such file.
  if (existsSync(path.join(own, "cgroup.events"))) moveProcesses(own, path.join(own, SERVICE_GROUP));
  return own;
}

export function enableControllers(folder: string, controllers: readonly Controller[]): void {
  const changes = controllers.map((controller) => `+${controller}`).join(" ");
  writeFileSync(path.join(folder, "cgroup.subtree_control"), changes, { flag: "r+" });
}

function moveProcesses(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  // Processes that are started meanwhile are found in the next round.
  for (let round = 0; round < 10; round++) {
    const pids = processesIn(from);
    if (pids.length === 0) return;
    for (const pid of pids) moveProcess(pid, to);
  }
  throw new Error(`the processes of ${from} cannot be moved`);
}

function moveProcess(pid: number, folder: string): void {
  try {
    writeFileSync(path.join(folder, "cgroup.procs"), String(pid), { flag: "r+" });
  } catch (error) {
    // It has ended.
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Whether systemd, if it manages this group, leaves its content to the service (`Delegate=yes`). */
function isDelegated(folder: string): boolean {
  const unit = path.basename(folder);
  if (!/\.(service|scope|slice)$/.test(unit) || !existsSync("/run/systemd/system")) return true;
  const manager = /\/user@(\d+)\.service\//.exec(folder);
  const [options, env] = manager
    ? [["--user"], { ...TOOL_ENVIRONMENT, XDG_RUNTIME_DIR: `/run/user/${manager[1]}` }]
    : [[], TOOL_ENVIRONMENT];
  const { stdout } = spawnSync("systemctl", [...options, "show", "--property=Delegate", "--value", unit], { env });
  return stdout?.toString().trim() === "yes";
}
