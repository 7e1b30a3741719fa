import { join } from "node:path";
import { SandboxedArchives } from "../../../server/drivers/archive-source/sandboxed-archives.ts";
import type { Sandbox } from "../../../server/ports/sandbox.ts";
import type { OpenArchiveSetting } from "../../contract/archive-source.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** Archives that are unpacked in a sandbox. */
export function archivesIn(sandbox: Sandbox): OpenArchiveSetting {
  return async (limits = {}) => {
    const folder = await temporaryFolder();
    const modulesDirectory = join(import.meta.dirname, "../../../node_modules");
    const source = await SandboxedArchives.open({
      sandbox,
      folder: join(folder.path, "archives"),
      modulesDirectory,
      limits,
    });
    return { source, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  };
}
