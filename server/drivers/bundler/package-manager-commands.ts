import type { SupportedPackageManager } from "./detect-package-manager.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";

/** How a package manager installs the dependencies of a project. */
export interface InstallCommand {
  /** @param rootEntries - the names of the files and folders at the root of the project */
  argv(rootEntries: ReadonlySet<string>): readonly [string, ...string[]];
  /** The environment variable that sets the registry URL. */
  registryVariable: string;
  env: Readonly<Record<string, string>>;
}

/**
 * Install scripts of the project and its dependencies are turned off: most of them download from hosts that builds
 * cannot reach, and a project can do the same work in its build script. Each build has its own caches, so that no
 * build can write data that another build reads.
 */
export const INSTALL_COMMANDS: Readonly<Record<SupportedPackageManager, InstallCommand>> = {
  npm: {
    argv: (rootEntries) => [
      SANDBOX_PATHS.node,
      `${SANDBOX_PATHS.modules}/npm/bin/npm-cli.js`,
      hasNpmLockfile(rootEntries) ? "ci" : "install",
    ],
    registryVariable: "npm_config_registry",
    env: {
      npm_config_ignore_scripts: "true",
      // A lockfile may contain URLs of the registry that its author used.
      npm_config_replace_registry_host: "always",
      // The package mirror retries already. Retries of npm would only delay the failure.
      npm_config_fetch_retries: "0",
      npm_config_cache: `${SANDBOX_PATHS.scratch}/npm-cache`,
      npm_config_progress: "false",
    },
  },
  pnpm: {
    argv: () => [SANDBOX_PATHS.node, `${SANDBOX_PATHS.modules}/pnpm/bin/pnpm.cjs`, "install"],
    registryVariable: "npm_config_registry",
    env: {
      npm_config_ignore_scripts: "true",
      npm_config_fetch_retries: "0",
      // On the same mount as node_modules: pnpm makes hard links, which cannot cross mounts.
      npm_config_store_dir: `${SANDBOX_PATHS.source}/node_modules/.pnpm-store`,
    },
  },
  yarn: {
    argv: () => [SANDBOX_PATHS.node, `${SANDBOX_PATHS.scripts}/run-yarn-install.ts`],
    registryVariable: "YARN_REGISTRY",
    env: {
      YARN_IGNORE_SCRIPTS: "true",
      YARN_CACHE_FOLDER: `${SANDBOX_PATHS.scratch}/yarn-cache`,
    },
  },
};

function hasNpmLockfile(rootEntries: ReadonlySet<string>): boolean {
  return rootEntries.has("package-lock.json") || rootEntries.has("npm-shrinkwrap.json");
}
