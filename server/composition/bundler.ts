import path from "node:path";
import type { BuildLimits } from "../config/build-limits.ts";
import type { BuildEgress } from "../config/build-egress.ts";
import type { Sandbox } from "../ports/sandbox.ts";
import type { TemporaryDatabases } from "../ports/postgres.ts";
import { readNpmSettings } from "../drivers/package-registry/npm-settings.ts";
import { PackageMirror } from "../drivers/package-registry/package-mirror.ts";
import type { DependencyStore } from "../drivers/bundler/dependencies/dependency-store.ts";
import { stepLimits, WranglerBundler } from "../drivers/bundler/wrangler-bundler.ts";

const PROJECT = path.resolve(import.meta.dirname, "../..");

/** The toolchain of builds, and the caches that make them fast and possible without a network. */
export const TOOLCHAIN_FOLDERS = {
  modules: path.join(PROJECT, "node_modules"),
  packages: path.join(PROJECT, ".cache/packages"),
  compiled: path.join(PROJECT, ".cache/compiled"),
} as const;

export interface BundlerSettings {
  /** Which hosts build scripts may connect to; by default none. */
  buildEgress?: BuildEgress | null;
  /** What one build may use; by default 2 GiB, 5 minutes for the install and 10 minutes for the build. */
  limits?: BuildLimits | null;
  /** Where builds store installed dependencies for later builds. */
  dependencies?: DependencyStore | null;
  /** Databases for build scripts of projects that use PostgreSQL; by default they have none. */
  databases?: TemporaryDatabases | undefined;
  /** Called with the code of the error when the package registry begins not to respond. */
  onRegistryOutage?: (code: string) => void;
}

/**
 * Creates the bundler with this project's toolchain and the machine's package registries.
 *
 * @param npmEnvironment - the environment variables that npm reads its settings from
 */
export function createBundler(
  sandbox: Sandbox,
  npmEnvironment: Readonly<Record<string, string>>,
  { buildEgress = null, dependencies = null, limits = null, databases, onRegistryOutage }: BundlerSettings = {},
): WranglerBundler {
  const packages = new PackageMirror({
    cacheDirectory: TOOLCHAIN_FOLDERS.packages,
    readSettings: () => readNpmSettings(npmEnvironment, PROJECT),
    onOutage: onRegistryOutage,
  });
  return new WranglerBundler({
    sandbox,
    packages,
    modulesDirectory: TOOLCHAIN_FOLDERS.modules,
    compileCacheDirectory: TOOLCHAIN_FOLDERS.compiled,
    egress: buildEgress,
    limits: limits === null ? {} : stepLimits(limits),
    dependencies,
    databases: databases ?? null,
  });
}
