import type { ServedPackageManager } from "./detect-package-manager.ts";
import { INSIDE } from "./toolchain.ts";

/** How a package manager installs what a project depends on. */
export interface Installer {
  /** @param names - what there is at the root of the project */
  argv(names: ReadonlySet<string>): readonly [string, ...string[]];
  /** The environment variable by which it is told of its registry. */
  registryVariable: string;
  env: Readonly<Record<string, string>>;
}

/**
 * No install script runs, of the project or of what it depends on: most fetch what builds may not reach, and what a
 * build needs can be part of its build script. Caches live and die with the build, so no build can write what
 * another one reads.
 */
export const INSTALLERS: Readonly<Record<ServedPackageManager, Installer>> = {
  npm: {
    argv: (names) => [INSIDE.node, `${INSIDE.modules}/npm/bin/npm-cli.js`, hasNpmLockfile(names) ? "ci" : "install"],
    registryVariable: "npm_config_registry",
    env: {
      npm_config_ignore_scripts: "true",
      // A lockfile may name the registry that its author used.
      npm_config_replace_registry_host: "always",
      // The package source tries again by itself, and knows better than its clients when that is in vain.
      npm_config_fetch_retries: "0",
      npm_config_cache: `${INSIDE.scratch}/npm-cache`,
      npm_config_progress: "false",
    },
  },
  pnpm: {
    argv: () => [INSIDE.node, `${INSIDE.modules}/pnpm/bin/pnpm.cjs`, "install"],
    registryVariable: "npm_config_registry",
    env: {
      npm_config_ignore_scripts: "true",
      npm_config_fetch_retries: "0",
      // Beside the packages it links into place, since a link cannot cross from one mount to another.
      npm_config_store_dir: `${INSIDE.source}/node_modules/.pnpm-store`,
      // pnpm would fetch and start the version that the project names.
      npm_config_manage_package_manager_versions: "false",
    },
  },
  yarn: {
    argv: () => [INSIDE.node, `${INSIDE.scripts}/run-yarn-install.ts`],
    registryVariable: "YARN_REGISTRY",
    env: {
      YARN_IGNORE_SCRIPTS: "true",
      YARN_CACHE_FOLDER: `${INSIDE.scratch}/yarn-cache`,
    },
  },
};

function hasNpmLockfile(names: ReadonlySet<string>): boolean {
  return names.has("package-lock.json") || names.has("npm-shrinkwrap.json");
}
