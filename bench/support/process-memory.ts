import { readFile } from "node:fs/promises";

/**
 * Returns the proportional set size (PSS) of a process, in MB. A page that n processes share counts as 1/n.
 *
 * @throws when the process has ended or belongs to another user
 */
export function proportionalMb(pid: number): Promise<number> {
  return readSizeMb(pid, "Pss");
}

/** Returns the PSS without file-backed pages. Most of those are shared, so their size depends on other processes. */
export function anonymousMb(pid: number): Promise<number> {
  return readSizeMb(pid, "Pss_Anon");
}

/** Returns the resident set size (RSS) of a process, in MB. */
export function residentMb(pid: number): Promise<number> {
  return readSizeMb(pid, "Rss");
}

/**
 * Returns the PSS of all descendants of a process, and the number of its direct children. One that ends meanwhile has no size:
 * the service starts short programs, such as `du`.
 */
export async function descendantsMb(pid: number): Promise<{ children: number; mb: number }> {
  const children = await listChildren(pid).catch(() => []);
  let mb = 0;
  for (const child of children) mb += (await proportionalMb(child).catch(() => 0)) + (await descendantsMb(child)).mb;
  return { children: children.length, mb };
}

async function readSizeMb(pid: number, field: string): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(rollup)?.[1]) / 1024;
}

/** The process ids of the direct children of a process. */
async function listChildren(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}
