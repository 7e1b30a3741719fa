import { join } from "node:path";
import { SandboxedArchives } from "../../server/drivers/archive-source/sandboxed-archives.ts";
import type { Sandbox } from "../../server/ports/sandbox.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { UnconfinedSandbox } from "../../server/sandbox/unconfined-sandbox.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { archiveSourceContract, type OpenArchiveSetting } from "./archive-source.ts";

function inSandbox(sandbox: Sandbox): OpenArchiveSetting {
  return async (limits = {}) => {
    const folder = await temporaryFolder();
    const modulesDirectory = join(import.meta.dirname, "../../node_modules");
    const source = await SandboxedArchives.open({
      sandbox,
      folder: join(folder.path, "archives"),
      modulesDirectory,
      limits,
    });
    return { source, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  };
}

archiveSourceContract("bubblewrap", inSandbox(new BubblewrapSandbox()));
archiveSourceContract("unconfined", inSandbox(new UnconfinedSandbox()));
