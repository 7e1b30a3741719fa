import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Bundler } from "../../domain/ports/bundler.ts";
import type { GitSource } from "../../domain/ports/git-source.ts";
import type { Sandbox } from "../../domain/ports/sandbox.ts";
import type { Workspaces } from "../../domain/ports/workspaces.ts";
import type { Config } from "../config.ts";
import { createBundler } from "./bundler.ts";
import { ExamplesSource } from "../drivers/git-source/examples-source.ts";
import { GitHost } from "../drivers/git-source/sandboxed-git.ts";
import { BubblewrapSandbox } from "../sandbox/bubblewrap.ts";
import { UnconfinedSandbox } from "../sandbox/unconfined.ts";
import { FilesystemWorkspaces } from "../drivers/workspaces/filesystem.ts";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));

/** Creates the git source, the bundler and the workspaces of deployments. */
export function openBuildPlatform(config: Config): { git: GitSource; bundler: Bundler; workspaces: Workspaces } {
  const sandbox = config.sandbox === "none" ? new UnconfinedSandbox() : new BubblewrapSandbox();
  const bundler = createBundler(sandbox, config.npmEnvironment);
  const workspaces = new FilesystemWorkspaces(path.join(config.dataDirectory, "builds"));
  return { git: gitSource(config, sandbox), bundler, workspaces };
}

/** Outside production, this project's examples can be deployed without a network, as `examples/<name>`. */
function gitSource(config: Config, sandbox: Sandbox): GitSource {
  const others = new GitHost({ baseUrl: config.gitBaseUrl, sandbox });
  if (config.production) return others;
  const dataFolder = path.join(config.dataDirectory, "examples");
  return new ExamplesSource({ examplesFolder: path.join(PROJECT, "examples"), dataFolder, sandbox, others });
}
