import { processTree } from "../process-tree.ts";
import type { ShellLimits } from "../resource-limits.ts";
import type { SandboxKind } from "../uid-pool.ts";
import { type KernelSetting, writeBeforeStart } from "../write-before-start.ts";
import type { ControlGroups } from "./control-groups.ts";
import type { GroupLimits } from "./group-settings.ts";

/** How a sandbox is started and limited on this host. Disposing kills what is left of it. */
export interface Placement extends AsyncDisposable {
  /**
   * The start of the command line of the sandbox.
   *
   * @param settings - further settings of the process
   * @param limits - limits of the process
   */
  startArguments(settings?: readonly KernelSetting[], limits?: ShellLimits | null): string[];
  /** Whether the kernel limits the number of processes of the sandbox. */
  areProcessesLimited: boolean;
  /** Whether the kernel limits the memory of the sandbox, so that it need not be measured. */
  isMemoryLimited: boolean;
  /** Whether the sandbox has reached the limit of its control group on memory. */
  hasExceededMemory(): boolean;
  /** All processes of the sandbox. `rootPid` is the one that was started. */
  processes(rootPid: number): number[];
}

/** For hosts without control groups. Where the kernel schedules sessions as groups (autogroup), new sessions escape this. */
const LOWER_PRIORITY = ["nice", "-n", "10"];

/** Creates a control group for one sandbox, if the host allows it. */
export function placeInGroup(groups: ControlGroups, kind: SandboxKind, limits: GroupLimits): Placement {
  const group = groups.create(kind, limits);
  const priority = kind === "apps" || groups.controllers.includes("cpu") ? [] : LOWER_PRIORITY;
  return {
    startArguments: (settings = [], limits = null) => [
      ...writeBeforeStart([...(group?.membership ?? []), ...settings], limits),
      ...priority,
    ],
    areProcessesLimited: groups.controllers.includes("pids"),
    isMemoryLimited: groups.controllers.includes("memory"),
    processes: (rootPid) => group?.processes() ?? processTree(rootPid),
    hasExceededMemory: () => group?.hasExceededMemory() ?? false,
    async [Symbol.asyncDispose]() {
      await group?.remove();
    },
  };
}
