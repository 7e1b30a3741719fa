/** `yarn` is Yarn 1, `yarn-berry` is Yarn 2 and later. */
export type PackageManager = "npm" | "pnpm" | "yarn" | "yarn-berry" | "bun";

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
 * @param field - `packageManager` of package.json, such as `pnpm@10.0.0`
 * @param rootEntries - the names of the files and folders at the root of the project
 * @param yarnLockVersion - the format of yarn.lock if Yarn 2 or later wrote it
 */
export function detectPackageManager(
  field: string | undefined,
  rootEntries: ReadonlySet<string>,
  yarnLockVersion: number | null,
): PackageManager {
  const [name, major] = /^([a-z]+)@(\d+)/.exec(field ?? "")?.slice(1) ?? [];
  if (name === "yarn") return Number(major) >= 2 ? "yarn-berry" : "yarn";
  if (name === "npm" || name === "pnpm" || name === "bun") return name;
  const detected = LOCKFILES.find(([lockfile]) => rootEntries.has(lockfile))?.[1] ?? "npm";
  return detected === "yarn" && yarnLockVersion !== null ? "yarn-berry" : detected;
}
