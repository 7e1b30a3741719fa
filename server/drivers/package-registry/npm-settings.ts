import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import Config from "@npmcli/config";
import settings from "@npmcli/config/lib/definitions/index.js";

/** What npm would use on this machine: registries, their credentials, certificates, proxies. It stays on the host. */
export type NpmSettings = Readonly<Record<string, unknown>>;

/**
 * Reads npm's settings as npm does: from its environment variables and the npmrc files of the folder, the user and
 * the machine.
 *
 * @param env - the environment that npm would have
 * @param folder - whose own npmrc counts too; never one that a build can write to
 */
export async function readNpmSettings(env: Readonly<Record<string, string>>, folder: string): Promise<NpmSettings> {
  const config = new Config({
    ...settings,
    npmPath: path.dirname(createRequire(import.meta.url).resolve("npm/package.json")),
    env,
    argv: [],
    execPath: installedNode(env["PATH"] ?? ""),
    cwd: folder,
    warn: false,
  });
  await config.load();
  return config.flat;
}

/**
 * npm finds the machine's npmrc from the folder that it is installed to. Ours is a package of the project, beside
 * which there is none, so the one that the machine's users have counts.
 */
function installedNode(searchPath: string): string {
  const folders = searchPath.split(path.delimiter).filter((folder) => !folder.includes("node_modules"));
  const folder = folders.find((each) => existsSync(path.join(each, "npm")));
  return folder === undefined ? process.execPath : path.join(folder, "node");
}
