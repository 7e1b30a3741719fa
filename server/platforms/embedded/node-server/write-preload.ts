import { mkdir } from "node:fs/promises";
import path from "node:path";
import type { AddedModule } from "../../../ports/isolated-runtime.ts";
import { writeReadable } from "../../../files/write-readable-files.ts";
import type { Mount } from "../../../ports/sandbox.ts";

/** A file that every Node.js process of a server loads before the server's own code. */
export interface Preload {
  mount: Mount;
  /** The path inside the sandbox. */
  file: string;
}

/** The path inside the sandbox of the root of added modules. */
const ADDED = "/opt/node-server/added";

/**
 * Writes modules to a folder of the service.
 *
 * @param folder - it does not exist yet
 * @param modules - the first one is the file that is loaded
 * @returns `undefined` if there are no modules
 */
export async function writePreload(folder: string, modules: readonly AddedModule[]): Promise<Preload | undefined> {
  const [first] = modules;
  if (first === undefined) return undefined;
  for (const { path: name, contents } of modules) {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true, mode: 0o755 });
    await writeReadable(file, contents);
  }
  return { mount: { from: folder, to: ADDED, writable: false }, file: path.posix.join(ADDED, first.path) };
}
