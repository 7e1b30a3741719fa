import { readFileSync } from "node:fs";
import path from "node:path";
import { type MountPoint, parseMountinfo } from "../mountinfo.ts";

/** The controllers of the kernel that limit a sandbox. */
export const CONTROLLERS = ["memory", "pids", "cpu"] as const;
export type Controller = (typeof CONTROLLERS)[number];

/** The folders of the control groups of this process; `null` where there is none or it is not mounted. */
export interface OwnGroups {
  /** In the hierarchy of version 2, whichever controllers it has. */
  unified: string | null;
  /** In the hierarchies of version 1. */
  legacy: Readonly<Record<Controller, string | null>>;
}

interface CgroupMount {
  /** The group that is visible at `target`. In a container it is often that of the container. */
  root: string;
  target: string;
  /** The controllers of version 1; empty for version 2. */
  controllers: string[];
}

const NONE: OwnGroups = { unified: null, legacy: { memory: null, pids: null, cpu: null } };

/** Finds the control groups of this process. Returns none on systems without `/proc`. */
export function findOwnGroups(): OwnGroups {
  try {
    return parseOwnGroups(readFileSync("/proc/self/cgroup", "utf8"), readFileSync("/proc/self/mountinfo", "utf8"));
  } catch {
    return NONE;
  }
}

/**
 * @param membership - the content of `/proc/self/cgroup`
 * @param mountinfo - the content of `/proc/self/mountinfo`
 */
export function parseOwnGroups(membership: string, mountinfo: string): OwnGroups {
  const mounts = parseMountinfo(mountinfo).flatMap(toCgroupMount);
  const groups = membership.split("\n").flatMap((line) => {
    const match = /^\d+:([^:]*):(.+)$/.exec(line);
    return match ? [{ controllers: (match[1] ?? "").split(",").filter(Boolean), path: match[2] ?? "" }] : [];
  });
  const folderOf = (controller: Controller | null): string | null => {
    const isIt = ({ controllers }: { controllers: string[] }) =>
      controller === null ? controllers.length === 0 : controllers.includes(controller);
    const [mount, group] = [mounts.find(isIt), groups.find(isIt)];
    return mount && group ? folderAt(mount, group.path) : null;
  };
  return {
    unified: folderOf(null),
    legacy: { memory: folderOf("memory"), pids: folderOf("pids"), cpu: folderOf("cpu") },
  };
}

function toCgroupMount({ type, root, target, options }: MountPoint): CgroupMount[] {
  if (type === "cgroup2") return [{ root, target, controllers: [] }];
  return type === "cgroup" ? [{ root, target, controllers: options }] : [];
}

/** Returns `null` for a group outside the mounted part. In a namespace, its path starts with `/..`. */
function folderAt({ root, target }: CgroupMount, group: string): string | null {
  if (group.startsWith("/..")) return null;
  const below = path.posix.relative(root, group);
  return below.startsWith("..") ? null : path.posix.join(target, below);
}
