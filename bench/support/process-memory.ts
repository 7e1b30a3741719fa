import { readFile } from "node:fs/promises";

/**
 * What would be free if the process ended, in MB: pages that it shares with others count in part (its proportional set
 * size).
 *
 * @throws for a process that is gone, or one of another user
 */
export function proportionalMb(pid: number): Promise<number> {
  return sizeMb(pid, "Pss");
}

/** The same without what is read from files, most of which is shared: how it grows depends on who else runs. */
export function anonymousMb(pid: number): Promise<number> {
  return sizeMb(pid, "Pss_Anon");
}

/** The same of everything that descends from the process, and how many children of its own that are. */
export async function descendantsMb(pid: number): Promise<{ children: number; mb: number }> {
  const children = await childrenOf(pid);
  let mb = 0;
  for (const child of children) mb += (await proportionalMb(child)) + (await descendantsMb(child)).mb;
  return { children: children.length, mb };
}

async function sizeMb(pid: number, field: string): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(rollup)?.[1]) / 1024;
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}
