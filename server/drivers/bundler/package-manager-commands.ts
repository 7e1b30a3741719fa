import { SANDBOX_PROXY_URL } from "../../sandbox/sandbox-environment.ts";
import type { PackageManager } from "./detect-package-manager.ts";
import { SANDBOX_PATHS } from "./toolchain.ts";

/** How a package manager installs the dependencies of a project. */
export interface InstallCommand {
  /**
   * @param rootEntries - the names of the files and folders at the root of the project
   * @param registryUrl - ends with a slash
   * @param member - the package of a workspace that the build needs, relative to the root of the workspace; `null` otherwise
   */
  argv(rootEntries: ReadonlySet<string>, registryUrl: string, member: string | null): readonly [string, ...string[]];
  /** The same install, which may change the lockfile. */
  relaxed(registryUrl: string, member: string | null): readonly [string, ...string[]];
  env(registryUrl: string): Readonly<Record<string, string>>;
  /** The environment variables of every step, because scripts run the package manager too. */
  buildEnv?: Readonly<Record<string, string>>;
}

/**
 * Install scripts of the project and its dependencies are turned off. They run afterwards, in a step of their own. Each build has its own caches, so that no
 * build can write data that another build reads.
 */
export const INSTALL_COMMANDS: Readonly<Record<PackageManager, InstallCommand>> = {
  npm: {
    argv: (rootEntries) => npmCommand(hasNpmLockfile(rootEntries) ? "ci" : "install"),
    relaxed: () => npmCommand("install"),
    env: (registryUrl) => ({
      npm_config_registry: registryUrl,
      npm_config_ignore_scripts: "true",
      // A lockfile may contain URLs of the registry that its author used.
      npm_config_replace_registry_host: "always",
      // The package mirror retries already. Retries of npm would only delay the failure.
      npm_config_fetch_retries: "0",
      npm_config_cache: `${SANDBOX_PATHS.scratch}/npm-cache`,
      npm_config_progress: "false",
    }),
  },
  pnpm: {
    argv: (_rootEntries, registryUrl, member) =>
      installCommand("pnpm-lock.yaml", registryUrl, "pnpm", ...pnpmFilters(member)),
    relaxed: (registryUrl, member) =>
      installCommand("pnpm-lock.yaml", registryUrl, "pnpm", "--no-frozen-lockfile", ...pnpmFilters(member)),
    env: (registryUrl) => ({ ...pnpmSettings("npm_config", registryUrl), ...pnpmSettings("pnpm_config", registryUrl) }),
    // pnpm reads it as a sign that Corepack has selected its version. It has precedence over the settings of a project, and
    // npm does not warn about it as it does about the settings of pnpm. Yarn 2 and later would look for itself there.
    buildEnv: { COREPACK_ROOT: SANDBOX_PATHS.scripts },
  },
  yarn: {
    argv: (_rootEntries, registryUrl) =>
      installCommand("yarn.lock", registryUrl, "yarn", "--frozen-lockfile", "--non-interactive"),
    relaxed: (registryUrl) => installCommand("yarn.lock", registryUrl, "yarn", "--non-interactive"),
    env: (registryUrl) => ({
      YARN_REGISTRY: registryUrl,
      YARN_IGNORE_SCRIPTS: "true",
      // The other package managers install a package that names another version of Node.js too.
      YARN_IGNORE_ENGINES: "true",
      YARN_CACHE_FOLDER: `${SANDBOX_PATHS.scratch}/yarn-cache`,
    }),
  },
  "yarn-berry": {
    argv: (rootEntries, registryUrl) => {
      const immutable = rootEntries.has("yarn.lock") ? "--immutable" : "--no-immutable";
      // The setting `enableScripts` would not turn off the scripts of the project itself.
      return installCommand("yarn.lock", registryUrl, "yarn", "--mode=skip-build", immutable);
    },
    relaxed: (registryUrl) => installCommand("yarn.lock", registryUrl, "yarn", "--mode=skip-build", "--no-immutable"),
    env: (registryUrl) => ({
      YARN_NPM_REGISTRY_SERVER: registryUrl,
      YARN_UNSAFE_HTTP_WHITELIST: new URL(registryUrl).hostname,
      YARN_HTTP_PROXY: SANDBOX_PROXY_URL,
      YARN_HTTPS_PROXY: SANDBOX_PROXY_URL,
      YARN_HTTP_RETRY: "0",
    }),
    buildEnv: {
      YARN_ENABLE_TELEMETRY: "false",
      YARN_ENABLE_PROGRESS_BARS: "false",
      // Contains the cache. With Plug'n'Play, the following steps read the packages from there.
      YARN_GLOBAL_FOLDER: `${SANDBOX_PATHS.scratch}/yarn`,
    },
  },
  bun: {
    argv: (rootEntries, registryUrl) => {
      const hasLockfile = rootEntries.has("bun.lock") || rootEntries.has("bun.lockb");
      const options = ["--ignore-scripts", ...(hasLockfile ? ["--frozen-lockfile"] : [])];
      return installCommand("bun.lock", registryUrl, "bun", `--registry=${registryUrl}`, ...options);
    },
    relaxed: (registryUrl) =>
      installCommand(
        "bun.lock",
        registryUrl,
        "bun",
        `--registry=${registryUrl}`,
        "--ignore-scripts",
        "--no-frozen-lockfile",
      ),
    env: (registryUrl) => ({
      npm_config_registry: registryUrl,
      // On the same mount as node_modules: Bun makes hard links there, and copies elsewhere. The install removes it.
      BUN_INSTALL_CACHE_DIR: `${SANDBOX_PATHS.source}/node_modules/.bun-cache`,
    }),
    buildEnv: { BUN_INSTALL_CACHE_DIR: `${SANDBOX_PATHS.scratch}/bun-cache`, DO_NOT_TRACK: "1" },
  },
};

/** @param prefix - `npm_config` for pnpm up to 10, and `pnpm_config` for later versions */
function pnpmSettings(prefix: "npm_config" | "pnpm_config", registryUrl: string): Record<string, string> {
  return {
    [`${prefix}_registry`]: registryUrl,
    [`${prefix}_ignore_scripts`]: "true",
    [`${prefix}_fetch_retries`]: "0",
    // The mirror serves no publication times.
    [`${prefix}_minimum_release_age`]: "0",
    // On the same mount as node_modules: pnpm makes hard links, which cannot cross mounts.
    [`${prefix}_store_dir`]: `${SANDBOX_PATHS.source}/node_modules/.pnpm-store`,
  };
}

/**
 * The package with what it depends on, and the root. The others have no part in the build, because a package cannot import
 * what only another one declares.
 */
function pnpmFilters(member: string | null): string[] {
  return member === null ? [] : ["--filter", `{${member}}...`, "--filter", "{.}"];
}

/** The command of npm. It runs npm's script: npm's own command would start a second process. */
export function npmCommand(command: string, ...options: string[]): [string, ...string[]] {
  return [SANDBOX_PATHS.node, `${SANDBOX_PATHS.modules}/npm/bin/npm-cli.js`, command, ...options];
}

/** An install that replaces URLs in the lockfile first. */
function installCommand(
  lockfile: string,
  registryUrl: string,
  program: "pnpm" | "yarn" | "bun",
  ...options: readonly string[]
): [string, ...string[]] {
  const { node, scripts } = SANDBOX_PATHS;
  return [node, `${scripts}/run-install.ts`, lockfile, registryUrl, program, "install", ...options];
}

function hasNpmLockfile(rootEntries: ReadonlySet<string>): boolean {
  return rootEntries.has("package-lock.json") || rootEntries.has("npm-shrinkwrap.json");
}
