export type ServedPackageManager = "npm" | "pnpm" | "yarn";

/** Those that a project may ask for in vain. `yarn-berry` is every Yarn after the first. */
export type UnservedPackageManager = "yarn-berry" | "bun";

export type PackageManager = ServedPackageManager | UnservedPackageManager;

/** In the order in which they count when a project has several. */
const LOCKFILES: readonly (readonly [string, PackageManager])[] = [
  ["package-lock.json", "npm"],
  ["npm-shrinkwrap.json", "npm"],
  ["pnpm-lock.yaml", "pnpm"],
  [".yarnrc.yml", "yarn-berry"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
];

/** The `packageManager` field of package.json decides, then the lockfile that is there, else it is npm. */
export function detectPackageManager(field: string | undefined, names: ReadonlySet<string>): PackageManager {
  const [name, major] = /^([a-z]+)@(\d+)/.exec(field ?? "")?.slice(1) ?? [];
  if (name === "yarn") return Number(major) >= 2 ? "yarn-berry" : "yarn";
  if (name === "npm" || name === "pnpm" || name === "bun") return name;
  return LOCKFILES.find(([lockfile]) => names.has(lockfile))?.[1] ?? "npm";
}
