import path from "node:path";
import type { Sandbox } from "../../domain/ports/sandbox.ts";
import { readNpmSettings } from "../drivers/package-registry/npm-settings.ts";
import { PackageMirror } from "../drivers/package-registry/package-mirror.ts";
import { WranglerBundler } from "../drivers/bundler/wrangler-bundler.ts";

const PROJECT = path.resolve(import.meta.dirname, "../..");

/** Where this project has the toolchain, and keeps what makes builds fast and possible without a network. */
export const TOOLCHAIN_FOLDERS = {
  modules: path.join(PROJECT, "node_modules"),
  packages: path.join(PROJECT, ".cache/packages"),
  compiled: path.join(PROJECT, ".cache/compiled"),
} as const;

/**
 * The bundler as this project runs it: its own toolchain, and the machine's package registries.
 *
 * @param npmEnvironment - the environment variables that npm would read its settings from
 */
export async function createBundler(
  sandbox: Sandbox,
  npmEnvironment: Readonly<Record<string, string>>,
): Promise<WranglerBundler> {
  const settings = await readNpmSettings(npmEnvironment, PROJECT);
  return new WranglerBundler({
    sandbox,
    packages: new PackageMirror({ cacheDirectory: TOOLCHAIN_FOLDERS.packages, settings }),
    modulesDirectory: TOOLCHAIN_FOLDERS.modules,
    compileCacheDirectory: TOOLCHAIN_FOLDERS.compiled,
  });
}
