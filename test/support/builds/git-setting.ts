import { pathToFileURL } from "node:url";
import { SandboxedGit } from "../../../server/drivers/git-source/sandboxed-git.ts";
import type { Sandbox } from "../../../server/ports/sandbox.ts";
import type { OpenGitSetting } from "../../contract/git-source.ts";
import { memoryFolder } from "../memory-folder.ts";
import { gitServer } from "./git-server.ts";

/** Repositories in a folder of this machine. Git runs in a sandbox. */
export function gitFolderIn(sandbox: Sandbox): OpenGitSetting {
  return async (limits = {}) => {
    const folder = await memoryFolder();
    const source = new SandboxedGit({ baseUrl: pathToFileURL(folder.path).href, sandbox, limits });
    return { base: folder.path, source, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  };
}

/** Repositories of an HTTP server. Git runs in a sandbox. */
export function gitServerIn(sandbox: Sandbox): OpenGitSetting {
  return async (limits = {}) => {
    const folder = await memoryFolder();
    const server = await gitServer(folder.path);
    const source = new SandboxedGit({ baseUrl: server.url, sandbox, limits });
    return {
      base: folder.path,
      source,
      async [Symbol.asyncDispose]() {
        await server[Symbol.asyncDispose]();
        await folder[Symbol.asyncDispose]();
      },
    };
  };
}
