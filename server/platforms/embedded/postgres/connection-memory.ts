import { readFileSync } from "node:fs";
import { childrenOf } from "../../../sandbox/process-tree.ts";

/** A process of PostgreSQL that serves a connection of an app. */
export interface ConnectionMemory {
  pid: number;
  /** Of its role. */
  name: string;
  /** Private memory, in KiB. */
  kilobytes: number;
}

/** How PostgreSQL names such a process, from the time at which its client has authenticated. */
const TITLE = /^postgres: (app_[0-9a-f]{20}\w*) /;

/**
 * Measures the connections of apps.
 *
 * @param server - the process of PostgreSQL that accepts connections
 */
export function measureConnections(server: number): ConnectionMemory[] {
  return childrenOf(server).flatMap((pid) => {
    const [, name] = TITLE.exec(read(pid, "cmdline")) ?? [];
    const [, kilobytes = "0"] = /^RssAnon:\s+(\d+) kB$/m.exec(name === undefined ? "" : read(pid, "status")) ?? [];
    return name === undefined ? [] : [{ pid, name, kilobytes: Number(kilobytes) }];
  });
}

/** Files of a process that has ended are empty. */
function read(pid: number, file: "cmdline" | "status"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}
