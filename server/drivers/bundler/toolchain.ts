import { existsSync } from "node:fs";
import path from "node:path";
import type { Mount } from "../../ports/sandbox.ts";
import { SANDBOX_NODE } from "../../sandbox/sandbox-environment.ts";

/** Paths inside the sandbox. */
export const SANDBOX_PATHS = {
  node: SANDBOX_NODE,
  source: "/build",
  output: "/out",
  scratch: "/scratch",
  scripts: "/opt/bundler",
  modules: "/opt/node_modules",
  compileCache: "/opt/compile-cache",
  dependencies: "/opt/dependencies",
  certificate: "/opt/package-mirror.pem",
  databaseCertificate: "/opt/postgresql.pem",
} as const;

/** The package of Bun for this processor. The one for x64 needs no instructions that only newer processors have. */
export const BUN_PACKAGE = `@oven/bun-linux-${process.arch === "arm64" ? "aarch64" : "x64-baseline"}`;

/** The programs of fixed versions that builds run with. */
export interface Toolchain {
  /** A `node_modules` folder with npm, pnpm, Yarn, Bun, wrangler and the framework detection. */
  modulesDirectory: string;
  /** The folder that `fillCompileCache` has filled; `null` if there is none. */
  compileCacheDirectory: string | null;
}

/**
 * Mounts the toolchain read-only. The folder of the scripts is beside `node_modules`, so the scripts resolve packages
 * of the toolchain. The source folder is not, so a project resolves only the packages that it installed itself.
 */
export function toolchainMounts({ modulesDirectory, compileCacheDirectory }: Toolchain): Mount[] {
  const mounts: Mount[] = [
    { from: modulesDirectory, to: SANDBOX_PATHS.modules, writable: false },
    { from: path.join(import.meta.dirname, "inside"), to: SANDBOX_PATHS.scripts, writable: false },
  ];
  if (compileCacheDirectory !== null)
    mounts.push({ from: compileCacheDirectory, to: SANDBOX_PATHS.compileCache, writable: false });
  return mounts;
}

/** The programs that the start commands of Node servers find: Node.js and the package managers. */
export function serverTools(modulesDirectory: string): { mounts: Mount[]; env: Record<string, string> } {
  const {
    PATH = "",
    TOOLCHAIN_MODULES = "",
    TOOLCHAIN_YARN = "",
    TOOLCHAIN_BUN = "",
  } = toolchainEnvironment({
    modulesDirectory,
    compileCacheDirectory: null,
  });
  return {
    mounts: toolchainMounts({ modulesDirectory, compileCacheDirectory: null }),
    env: { PATH, TOOLCHAIN_MODULES, TOOLCHAIN_YARN, TOOLCHAIN_BUN, ...NO_UPDATE_CHECKS, ...FIXED_VERSIONS },
  };
}

/** The folder in the sandbox with the headers of Node.js, for packages that are compiled; `null` if the toolchain has none. */
export function nodeHeaders({ modulesDirectory }: Toolchain): string | null {
  const name = `node-linux-${process.arch}`;
  const hasHeaders = existsSync(path.join(modulesDirectory, name, "include/node/node.h"));
  return hasHeaders ? `${SANDBOX_PATHS.modules}/${name}` : null;
}

/** The complete environment of a build. It contains no variable of the host. */
export function toolchainEnvironment({ compileCacheDirectory }: Toolchain): Record<string, string> {
  const env: Record<string, string> = {
    PATH: `${path.dirname(SANDBOX_PATHS.node)}:${SANDBOX_PATHS.scripts}/bin:/usr/bin:/bin`,
    TOOLCHAIN_MODULES: SANDBOX_PATHS.modules,
    TOOLCHAIN_YARN: `${SANDBOX_PATHS.modules}/yarn/bin/yarn.js`,
    TOOLCHAIN_BUN: `${SANDBOX_PATHS.modules}/${BUN_PACKAGE}/bin/bun`,
    HOME: `${SANDBOX_PATHS.scratch}/home`,
    LANG: "C.UTF-8",
    ...NON_INTERACTIVE,
    ...FIXED_VERSIONS,
  };
  if (compileCacheDirectory !== null) env["NODE_COMPILE_CACHE"] = SANDBOX_PATHS.compileCache;
  return env;
}

/** Turns off update checks. Without a network, that of npm ends the command. */
const NO_UPDATE_CHECKS: Readonly<Record<string, string>> = {
  NO_UPDATE_NOTIFIER: "1",
  npm_config_update_notifier: "false",
};

/** Turns off prompts, colours, telemetry and update checks of the tools. */
const NON_INTERACTIVE: Readonly<Record<string, string>> = {
  ...NO_UPDATE_CHECKS,
  CI: "true",
  NO_COLOR: "1",
  FORCE_COLOR: "0",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  ASTRO_TELEMETRY_DISABLED: "1",
  NEXT_TELEMETRY_DISABLED: "1",
  NUXT_TELEMETRY_DISABLED: "1",
  npm_config_audit: "false",
  npm_config_fund: "false",
};

/** Turns off the download of the version that a project names: package managers run in the version of the toolchain. */
const FIXED_VERSIONS: Readonly<Record<string, string>> = {
  // Otherwise Yarn runs the file that the project names.
  YARN_IGNORE_PATH: "1",
  // Otherwise Yarn 1 and pnpm refuse to run in a project that names another package manager.
  SKIP_YARN_COREPACK_CHECK: "1",
  COREPACK_ENABLE_STRICT: "0",
  // Corepack itself, if the host has it: the version that it has, and no download.
  COREPACK_ENABLE_PROJECT_SPEC: "0",
  COREPACK_ENABLE_NETWORK: "0",
  // Otherwise pnpm installs again before it runs a script, if the project requires it.
  pnpm_config_verify_deps_before_run: "false",
  // Otherwise pnpm 12 looks for its own version in the registry each time, and downloads the Node.js of `devEngines.runtime`.
  pnpm_config_pm_on_fail: "ignore",
  pnpm_config_runtime_on_fail: "ignore",
};
