export type SupportedPackageManager = "npm" | "pnpm" | "yarn";

/** Package managers that a project may name but that builds do not run. `yarn-berry` is Yarn 2 and later. */
export type UnsupportedPackageManager = "yarn-berry" | "bun";

export type PackageManager = SupportedPackageManager | UnsupportedPackageManager;

/** The first one that exists decides. */
const LOCKFILES: readonly (readonly [string, PackageManager])[] = [
  ["package-lock.json", "npm"],
  ["npm-shrinkwrap.json", "npm"],
  ["pnpm-lock.yaml", "pnpm"],
  [".yarnrc.yml", "yarn-berry"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
];

/**
 * Uses the `packageManager` field of package.json, otherwise the lockfile, otherwise npm.
 *
 * @param rootEntries - the names of the files and folders at the root of the project
 */
export function detectPackageManager(field: string | undefined, rootEntries: ReadonlySet<string>): PackageManager {
  const [name, major] = /^([a-z]+)@(\d+)/.exec(field ?? "")?.slice(1) ?? [];
  if (name === "yarn") return Number(major) >= 2 ? "yarn-berry" : "yarn";
  if (name === "npm" || name === "pnpm" || name === "bun") return name;
  return LOCKFILES.find(([lockfile]) => rootEntries.has(lockfile))?.[1] ?? "npm";
}
