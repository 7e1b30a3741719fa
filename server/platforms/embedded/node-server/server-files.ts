import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { LayeredFolder, Mount, Sandbox } from "../../../ports/sandbox.ts";
import { canLayerFolders } from "../../../sandbox/layered-folder.ts";
import { runTool } from "../../../sandbox/run-tool.ts";
import { startChild } from "../../../sandbox/start-process.ts";

/** The files of a server in its sandbox. Its changes disappear with its process, except data. */
export interface ServerFiles {
  mounts: readonly Mount[];
  layered?: LayeredFolder;
  /** The folder of the host with what the server writes. */
  written: string;
}

/**
 * Prepares the files of one process: layers, or a copy of them on hosts that cannot layer folders, which takes longer.
 *
 * @param layers - the uppermost first
 * @param folder - the folder of the launch
 * @param to - the path inside the sandbox
 */
export async function prepareFiles(
  { canLayer = false }: Pick<Sandbox, "canLayer">,
  layers: readonly string[],
  { folder, to }: { folder: string; to: string },
): Promise<ServerFiles> {
  const inside = (name: string) => path.join(folder, name);
  if (canLayer && (await canLayerFolders(path.dirname(folder)))) {
    const layered = { layers, upper: inside("upper"), work: inside("work"), merged: inside("merged"), to };
    for (const each of [layered.upper, layered.work, layered.merged]) await mkdir(each);
    return { mounts: [], layered, written: layered.upper };
  }
  const copy = inside("files");
  await mkdir(copy);
  for (const layer of layers.toReversed())
    await runTool(startChild, ["cp", "-a", "--no-preserve=ownership", "--reflink=auto", "--", `${layer}/.`, copy]);
  // What the copy itself occupies is not what the server wrote.
  return { mounts: [{ from: copy, to, writable: true, keepsData: true }], written: copy };
}
