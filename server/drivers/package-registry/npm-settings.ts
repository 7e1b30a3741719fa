import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

/** npm's settings on this machine: registries, credentials, certificates, proxies. They never enter a sandbox. */
export type NpmSettings = Readonly<Record<string, unknown>>;

/**
 * Reads npm's settings as npm does: from environment variables and from the npmrc files of the folder, the user and
 * the machine.
 *
 * @param env - the environment variables to read
 * @param folder - the folder whose own npmrc is read; never one that a build can write to
 */
export async function readNpmSettings(env: Readonly<Record<string, string>>, folder: string): Promise<NpmSettings> {
  // Imported here and not at start: they take 10 MB of memory, and only installs need them.
  const { default: Config } = await import("@npmcli/config");
  const { default: definitions } = await import("@npmcli/config/lib/definitions/index.js");
  const config = new Config({
    ...definitions,
    npmPath: path.dirname(createRequire(import.meta.url).resolve("npm/package.json")),
    env,
    argv: [],
    execPath: findMachineNode(env["PATH"] ?? ""),
    cwd: folder,
    warn: false,
  });
  await config.load();
  return config.flat;
}

/**
 * npm looks for the machine's npmrc relative to the folder that it is installed in. The npm that builds use is a
 * dependency of this project and has no such file, so the npm that the machine's users run is looked up in PATH.
 */
function findMachineNode(searchPath: string): string {
  const folders = searchPath.split(path.delimiter).filter((folder) => !folder.includes("node_modules"));
  const folder = folders.find((each) => existsSync(path.join(each, "npm")));
  return folder === undefined ? process.execPath : path.join(folder, "node");
}
