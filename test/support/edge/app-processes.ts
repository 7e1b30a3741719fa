import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { processTree } from "../../../server/sandbox/process-tree.ts";

/** The outermost process of every running app, from the files that the launch script writes. */
async function launchedPids(root: string): Promise<number[]> {
  const folders = await readdir(path.join(root, "run"));
  const pids = await Promise.all(folders.map((folder) => readFile(path.join(root, "run", folder, "pid"), "utf8")));
  return pids.map(Number);
}

/** All processes of all running apps, including those that create their sandboxes. */
export async function sandboxPids(root: string): Promise<number[]> {
  return (await launchedPids(root)).flatMap(processTree);
}

/** The workerd process of every running app. */
export async function workerdPids(root: string): Promise<number[]> {
  return (await launchedPids(root)).map((pid) => processTree(pid).at(-1) ?? pid);
}
