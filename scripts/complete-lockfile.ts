/**
 * Completes package-lock.json with the optional packages of other platforms.
 *
 * `npm install` omits an optional package from the lockfile if the registry does not have it, and `npm ci` then refuses the
 * lockfile on every machine. With an entry for its platform, `npm ci` installs the package there and ignores it elsewhere.
 *
 * Usage: node scripts/complete-lockfile.ts [--check]
 */
import { readFileSync, writeFileSync } from "node:fs";

interface LockedPackage {
  version?: string;
  dev?: boolean;
  optional?: boolean;
  optionalDependencies?: Record<string, string>;
  [field: string]: unknown;
}

export interface Lockfile {
  packages: Record<string, LockedPackage>;
}

const OPERATING_SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const PROCESSORS = ["arm", "arm64", "ia32", "loong64", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

/**
 * Returns the missing entries by their path in the lockfile: each beside the package that depends on it.
 *
 * @throws when the platform of a missing package is not in its name
 */
export function missingPackages(lockfile: Lockfile): Record<string, LockedPackage> {
  const missing: Record<string, LockedPackage> = {};
  for (const [dependent, { dev, optionalDependencies = {} }] of Object.entries(lockfile.packages)) {
    for (const [name, specification] of Object.entries(optionalDependencies)) {
      // An alias names another package: npm:package@version.
      const [, actualName, version = specification] = /^npm:(.+)@([^@]+)$/.exec(specification) ?? [];
      const locked = lockedVersion(lockfile, dependent, name);
      const platform = platformOf(name);
      // A range is satisfied by the version that npm chose. Packages of a platform are pinned.
      if (locked === version || (locked !== undefined && platform === null)) continue;
      if (platform === null)
        throw new Error(`package-lock.json lacks ${name}@${version}, and its name contains no platform`);
      const { cpu, libc, os } = platform;
      // In npm's own order of fields, so that npm finds nothing to rewrite.
      missing[`${folderOf(dependent)}node_modules/${name}`] = {
        ...(actualName && { name: actualName }),
        version,
        cpu,
        ...(dev && { dev }),
        ...(libc && { libc }),
        optional: true,
        ...(os && { os }),
      };
    }
  }
  return missing;
}

/** Searches like Node: in the packages of the dependent, then in each parent folder. */
function lockedVersion({ packages }: Lockfile, dependent: string, name: string): string | undefined {
  const own = packages[`${dependent}/node_modules/${name}`];
  if (own !== undefined) return own.version;
  for (let folder = folderOf(dependent); ; folder = folderOf(folder.slice(0, -1))) {
    const found = packages[`${folder}node_modules/${name}`];
    if (found !== undefined || folder === "") return found?.version;
  }
}

/** The folder whose node_modules contains `place`, with a slash at the end; empty for the project's own node_modules. */
function folderOf(place: string): string {
  return place.slice(0, Math.max(0, place.lastIndexOf("node_modules/")));
}

/** The platform in a package name such as `@scope/binding-linux-arm64-musl`; `null` for a name without one. */
function platformOf(name: string): { os?: string[]; cpu: string[]; libc?: string[] } | null {
  const words = name.replace("windows", "win32").split(/[-/]/);
  const os = words.find((word) => OPERATING_SYSTEMS.includes(word));
  const cpu = words.find((word) => PROCESSORS.includes(word)) ?? (words.at(-1) === "64" ? "x64" : undefined);
  if (cpu === "wasm32" && os === undefined) return { cpu: [cpu] };
  if (os === undefined || cpu === undefined) return null;
  const libc = os === "linux" ? words.map((word) => /^(musl|gnu)/.exec(word)?.[1]).find(Boolean) : undefined;
  return { os: [os], cpu: [cpu], ...(libc && { libc: [libc === "gnu" ? "glibc" : "musl"] }) };
}

function main(): void {
  const path = new URL("../package-lock.json", import.meta.url);
  const lockfile = JSON.parse(readFileSync(path, "utf8")) as Lockfile;
  const missing = missingPackages(lockfile);
  const names = Object.keys(missing);
  if (names.length === 0) return;
  if (process.argv.includes("--check")) {
    console.error(
      `package-lock.json lacks packages of other platforms; run \`npm run lockfile\`:\n${names.join("\n")}`,
    );
    process.exitCode = 1;
    return;
  }
  lockfile.packages = Object.fromEntries(
    Object.entries({ ...lockfile.packages, ...missing }).toSorted(([a], [b]) => a.localeCompare(b, "en")),
  );
  writeFileSync(path, `${JSON.stringify(lockfile, null, 2)}\n`);
  console.log(`Added ${names.length} packages of other platforms to package-lock.json.`);
}

if (import.meta.main) main();
