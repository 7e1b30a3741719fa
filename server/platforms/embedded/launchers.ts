import type { ControlGroups } from "../../sandbox/cgroups/control-groups.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import { unpackTree } from "../../sandbox/tree-archive/tree-archive.ts";
import { NodeLauncher, type ServerTools } from "./node-server/node-launcher.ts";
import { LaunchRecords } from "./node-server/launch-records.ts";
import type { UnpackLayer } from "./scripts/script-store.ts";
import { WorkerdLauncher } from "./workerd/workerd-launcher.ts";

export interface LauncherOptions {
  sandbox: "bubblewrap" | "none";
  /** What runs Node servers and unpacks their files, and the programs that their start commands find. */
  nodeServers: { sandbox: Sandbox; tools: ServerTools };
  /** The groups through which the kernel limits apps. */
  groups?: ControlGroups | undefined;
}

/** In milliseconds. */
export interface LauncherLimits {
  /** Of the CPU time that the start of a Worker may use. A start that waits has six times as long. */
  startLimitMs: number;
  /** For Node servers, which may compile or migrate a database before they listen. */
  serverStartTimeoutMs: number;
  /** How long a Node server may run after SIGTERM. */
  stopGraceMs: number;
}

export const LAUNCHER_LIMITS: LauncherLimits = {
  startLimitMs: 10_000,
  serverStartTimeoutMs: 60_000,
  stopGraceMs: 5_000,
};

const UNPACK_LIMITS = {
  wallTimeMs: 5 * 60_000,
  memoryMb: 512,
  processes: 16,
  fileSizeMb: 2048,
  diskMb: 4096,
  outputBytes: 64 * 1024,
} as const;

/** Creates what starts the processes of apps. */
export function createLaunchers(
  launchRoot: string,
  { sandbox, groups, nodeServers }: LauncherOptions,
  { startLimitMs, serverStartTimeoutMs, stopGraceMs }: LauncherLimits,
) {
  const launchRecords = new LaunchRecords(`${launchRoot}-records`);
  const limitsOfServers = { startTimeoutMs: serverStartTimeoutMs, stopGraceMs };
  return {
    launchRecords,
    launcher: new WorkerdLauncher({ launchRoot, sandbox, groups, startLimitMs }),
    nodeLauncher: new NodeLauncher({ ...nodeServers, ...limitsOfServers, launchRoot, launchRecords }),
  };
}

export function createUnpack(sandbox: Sandbox): UnpackLayer {
  return (archive, folder, signal) => unpackTree({ sandbox, limits: UNPACK_LIMITS, signal }, archive, folder);
}
