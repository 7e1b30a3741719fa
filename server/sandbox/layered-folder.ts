import { mkdir, mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import type { LayeredFolder } from "../ports/sandbox.ts";
import { isRoot } from "./file-ownership.ts";
import { runTool } from "./run-tool.ts";
import { startChild } from "./start-process.ts";

/** Mounts a file system and executes the command that follows. */
const MOUNT = 'mount -t overlay overlay -o "$1" "$2" && shift 2 && exec "$@"';

/** Characters that separate the options of a mount. */
const SEPARATORS = /[,:\\\n]/;

/** The start of a command line that layers a folder in its own mount namespace, as root. */
export function mountLayers({ layers, upper, work, merged }: LayeredFolder): string[] {
  const options = `lowerdir=${layers.join(":")},upperdir=${upper},workdir=${work}`;
  return ["sh", "-c", MOUNT, "sh", options, merged];
}

let problem: Promise<boolean> | undefined;

/**
 * Whether sandboxes can have layered folders: the service must be root, and the file system of `folder` must support it. Some
 * containers store their files in a layered folder themselves, which cannot be the upper one of another.
 */
export async function canLayerFolders(folder: string): Promise<boolean> {
  if (!isRoot() || SEPARATORS.test(folder)) return false;
  problem ??= tryToLayer(folder);
  return problem;
}

async function tryToLayer(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  const probe = await mkdtemp(path.join(folder, "probe-"));
  const paths = ["layer", "upper", "work", "merged"].map((name) => path.join(probe, name));
  const [layer = "", upper = "", work = "", merged = ""] = paths;
  try {
    for (const each of paths) await mkdir(each);
    const command = mountLayers({ layers: [layer], upper, work, merged, to: merged });
    await runTool(startChild, ["unshare", "--mount", "--", ...command, "true"]);
    return true;
  } catch {
    return false;
  } finally {
    await rm(probe, { recursive: true, force: true });
  }
}
