import type { PackageReport } from "../../ports/package-registry.ts";
import type { PackageManager } from "./detect-package-manager.ts";
import { INSTALL_COMMANDS, npmCommand } from "./package-manager-commands.ts";

/** An install that accepts what the one before refused. */
export interface RelaxedInstall {
  argv: readonly [string, ...string[]];
  /** What it accepts, for the owner of the app. */
  warning: string;
}

/** From where, and for what, packages are installed. */
export interface InstallTarget {
  registryUrl: string;
  /** The member of a workspace; `null` for the whole project. */
  member: string | null;
  /** Whether the lockfile of npm contains peer dependencies. */
  locksPeers: boolean;
}

/** Why an install with a lockfile is refused although one without it may succeed, and what then installs. */
interface Rule {
  pattern: RegExp;
  /** Whether the rule is only for lockfiles that contain peer dependencies. */
  needsLockedPeers?: true;
  /** The option of npm with which it installs; `null` if a plain install does. */
  option: string | null;
  problem: string;
}

/** A lockfile that does not match package.json: of npm, pnpm, Yarn 1, Yarn 2 and later, Bun. */
export const OUTDATED_LOCKFILE =
  /are in sync|ERR_PNPM_(?:FROZEN_LOCKFILE_WITH_)?OUTDATED_LOCKFILE|lockfile needs to be updated|lockfile would have been modified|lockfile had changes, but lockfile is frozen|ERR_PNPM_LOCKFILE_CONFIG_MISMATCH|ERR_PNPM_LOCKFILE_BREAKING_CHANGE/;

const RULES: readonly Rule[] = [
  {
    pattern: OUTDATED_LOCKFILE,
    option: null,
    problem: "The lockfile does not match package.json, so other versions of packages may have been installed",
  },
  {
    // The other option would remove the peer dependencies that the lockfile contains.
    pattern: /^npm error ERESOLVE/,
    needsLockedPeers: true,
    option: "--force",
    problem: "Peer dependencies conflict, and npm installed those of the lockfile without a check",
  },
  {
    pattern: /^npm error ERESOLVE/,
    option: "--legacy-peer-deps",
    problem: "Peer dependencies conflict, and npm installed them without a check",
  },
  {
    pattern: /^npm error (code )?(notsup|EBADPLATFORM)|Unsupported platform for/,
    option: "--force",
    problem: "A package is not for Linux, and npm installed it without a check",
  },
];

/**
 * Returns the install that follows a failed one with a lockfile: without the check that failed. The owner's machine installs
 * such projects, with another version of the package manager or with an option.
 *
 * @param lines - the output of the failed install
 * @param tried - the installs before
 * @returns `null` if the reason of the failure is another one, or was not helped by it already
 */
export function relaxInstall(
  packageManager: PackageManager,
  lines: readonly string[],
  tried: readonly RelaxedInstall[],
  target: InstallTarget,
  missing: PackageReport["missing"] = [],
): RelaxedInstall | null {
  if (packageManager === "yarn" && tried.length === 0) {
    const removed = missing.filter(({ version }) => version !== null).map(({ name, version }) => `${name}@${version}`);
    if (removed.length > 0) return withoutVersions(removed, target.registryUrl);
  }
  const rules = RULES.filter(({ needsLockedPeers = false }) => !needsLockedPeers || target.locksPeers);
  const rule = rules.find(({ pattern }) => lines.some((line) => pattern.test(line)));
  if (rule === undefined || (rule.option !== null && packageManager !== "npm")) return null;
  const argv =
    rule.option === null
      ? INSTALL_COMMANDS[packageManager].relaxed(target.registryUrl, target.member)
      : npmCommand("install", rule.option);
  const command =
    rule.option === null ? `${packageManager.replace("-berry", "")} install` : `npm install ${rule.option}`;
  const warning = `${rule.problem}. Run \`${command}\` and commit the lockfile.`;
  return tried.some((each) => each.warning === warning) ? null : { argv, warning };
}

/** Yarn 1 fetches every package of its lockfile, also one for another system that was removed from the registry. */
function withoutVersions(removed: readonly string[], registryUrl: string): RelaxedInstall {
  const [node, script, lockfile, ...rest] = INSTALL_COMMANDS.yarn.relaxed(registryUrl, null);
  return {
    argv: [node, script ?? "", `${lockfile}?without=${removed.join(",")}`, ...rest],
    warning: `The package registry no longer has ${removed.join(", ")} of yarn.lock, so other versions may have been installed. Run \`yarn install\` and commit the lockfile.`,
  };
}
