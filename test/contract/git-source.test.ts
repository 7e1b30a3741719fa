import { SandboxedGit } from "../../server/drivers/git-source/sandboxed-git.ts";
import { BubblewrapSandbox } from "../../server/sandbox/bubblewrap.ts";
import { UnconfinedSandbox } from "../../server/sandbox/unconfined-sandbox.ts";
import type { Sandbox } from "../../server/ports/sandbox.ts";
import { pathToFileURL } from "node:url";
import { gitServer } from "../support/builds/git-server.ts";
import { memoryFolder } from "../support/memory-folder.ts";
import { gitSourceLimitsContract } from "./git-source-limits.ts";
import { gitSourceContract, type OpenGitSetting } from "./git-source.ts";

function localFolder(sandbox: Sandbox): OpenGitSetting {
  return async (limits = {}) => {
    const folder = await memoryFolder();
    const source = new SandboxedGit({ baseUrl: pathToFileURL(folder.path).href, sandbox, limits });
    return { base: folder.path, source, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() };
  };
}

function httpServer(sandbox: Sandbox): OpenGitSetting {
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

const settings = {
  "a local folder, bubblewrap": localFolder(new BubblewrapSandbox()),
  "an HTTP server, bubblewrap": httpServer(new BubblewrapSandbox()),
  "an HTTP server, unconfined": httpServer(new UnconfinedSandbox()),
};

for (const [kind, open] of Object.entries(settings)) {
  gitSourceContract(kind, open);
  gitSourceLimitsContract(kind, open);
}
