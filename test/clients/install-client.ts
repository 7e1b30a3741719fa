import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { RealClient } from "./real-client.ts";

const INSTALL_TIMEOUT_MS = 180_000;

/**
 * Installs a client from the npm registry.
 *
 * @returns the folder with its programs
 */
export async function installClient(
  { packageName, version, installScript }: Pick<RealClient, "packageName" | "version" | "installScript">,
  folder: string,
  signal: AbortSignal,
): Promise<string> {
  const execute = promisify(execFile);
  const options = { cwd: folder, signal: AbortSignal.any([signal, AbortSignal.timeout(INSTALL_TIMEOUT_MS)]) };
  await writeFile(path.join(folder, "package.json"), "{}");
  const npmArgs = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  await execute("npm", [...npmArgs, `${packageName}@${version}`], options);
  const modules = path.join(folder, "node_modules");
  if (installScript !== undefined) {
    const script = path.join(modules, packageName, installScript);
    await execute(process.execPath, [script], { ...options, cwd: path.dirname(script) });
  }
  return path.join(modules, ".bin");
}
