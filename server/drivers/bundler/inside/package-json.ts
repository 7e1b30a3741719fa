import { lstatSync, readFileSync, statSync } from "node:fs";
import path from "node:path";

/** The used parts of a package.json. The host has validated the one of the app, not those of other packages. */
export interface PackageJson {
  name?: unknown;
  main?: unknown;
  scripts?: Record<string, unknown>;
  dependencies?: object;
  devDependencies?: object;
  optionalDependencies?: object;
  peerDependencies?: object;
  workspaces?: unknown;
}

const EXTENSIONS = ["ts", "tsx", "mts", "js", "jsx", "mjs"];

/** The paths of scripts that are found without a configuration, without their extensions. */
export const STEMS = ["src/index", "src/worker", "index", "worker"];
const ENTRIES = STEMS.flatMap((stem) => EXTENSIONS.map((extension) => `${stem}.${extension}`));

/** Reads the package.json of the current folder. A link is treated as absent, as on the host. */
export function readPackageJson(): PackageJson {
  const exists = lstatSync("package.json", { throwIfNoEntry: false })?.isFile() ?? false;
  return exists ? (JSON.parse(readFileSync("package.json", "utf8").replace(/^\uFEFF/, "")) as PackageJson) : {};
}

/** Reads the package.json of any folder; empty without one. */
export function readManifest<Manifest extends PackageJson>(folder: string): Partial<Manifest> {
  const file = path.join(folder, "package.json");
  return isFile(file) ? (JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, "")) as Manifest) : {};
}

export function hasDependencies({ dependencies, devDependencies }: PackageJson): boolean {
  return Object.keys({ ...dependencies, ...devDependencies }).length > 0;
}

/** The script that builds a package: `build`, or the one that Heroku runs. */
export function findBuildScript({ scripts }: Pick<PackageJson, "scripts">): string | undefined {
  return ["build", "heroku-postbuild"].find((name) => typeof scripts?.[name] === "string");
}

export function hasBuildScript(packageJson: PackageJson): boolean {
  return findBuildScript(packageJson) !== undefined;
}

/** Finds the script of a package that has no wrangler configuration. */
export function findEntry({ main }: PackageJson): string | undefined {
  const declared = typeof main === "string" ? [path.normalize(main)] : [];
  const usable = declared.filter(
    (file) => !file.startsWith("..") && !path.isAbsolute(file) && /\.[mc]?[jt]sx?$/.test(file),
  );
  return [...usable, ...ENTRIES].find(isFile);
}

export function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}
