import path from "node:path";
import { z } from "zod";
import { openUntrusted } from "../../sandbox/untrusted-file.ts";
import type { PackageManager } from "./detect-package-manager.ts";

/** The last version of Yarn that reads and writes the lockfiles of Yarn 3 as they are. Yarn 2 does not run on this Node.js. */
const LAST_YARN_3 = "3.8.7";

/** The format of the lockfiles of Yarn 4. */
const YARN_4_LOCKFILE = 8;

/** The last versions of pnpm that read these formats of its lockfile. pnpm 10 ignores them, and would install other versions. */
const PNPM_OF_LOCKFILE: Readonly<Record<string, string>> = { 5: "7.33.7", 6: "8.15.9" };

/** Another form of it is not an error. */
const enginesSchema = z.object({ pnpm: z.string() });

/** What is read here is in the first lines of a file. */
const HEAD_BYTES = 16 * 1024;

/** The version of the toolchain reads the lockfiles and settings of these. Since 11, pnpm reads other settings, from other files. */
export const BUNDLED_PNPM = { first: 9, last: 10 };

/** Returns the format of a yarn.lock that Yarn 2 or later wrote, otherwise `null`. */
export async function readYarnLockVersion(directory: string): Promise<number | null> {
  const version = /^__metadata:\s+version: (\d+)/m.exec(await readHead(path.join(directory, "yarn.lock")))?.[1];
  return version === undefined ? null : Number(version);
}

/**
 * Returns the version of its package manager that a project requires: in package.json, in the file name of `yarnPath`, in
 * .bun-version, or by the format of yarn.lock or pnpm-lock.yaml. `null` if it requires none.
 *
 * @param required.field - `packageManager` of package.json, or what `devEngines` has in its place
 * @param required.engines - those of package.json
 */
export async function readPackageManagerVersion(
  directory: string,
  packageManager: PackageManager,
  { field, engines, yarnLockVersion }: { field: string | undefined; engines: unknown; yarnLockVersion: number | null },
): Promise<string | null> {
  const named = /^[a-z]+@(\d+(?:\.\d+){0,2}[\w.-]*)/.exec(field ?? "")?.[1];
  if (named !== undefined) return /^2\b/.test(named) && packageManager === "yarn-berry" ? LAST_YARN_3 : named;
  if (packageManager === "bun")
    return /^v?(\d+\.\d+\.\d+)\s*$/.exec(await readHead(path.join(directory, ".bun-version")))?.[1] ?? null;
  if (packageManager === "pnpm") {
    const lockfile = await readHead(path.join(directory, "pnpm-lock.yaml"));
    return PNPM_OF_LOCKFILE[/^lockfileVersion: ['"]?(\d+)\./m.exec(lockfile)?.[1] ?? ""] ?? findNewerPnpm(engines);
  }
  if (packageManager !== "yarn-berry") return null;
  const settings = await readHead(path.join(directory, ".yarnrc.yml"));
  const inPath = /^yarnPath:.*yarn-(\d+\.\d+\.\d+(?:-[\w.]+?)?)\.c?js/m.exec(settings)?.[1];
  if (inPath !== undefined) return inPath;
  return yarnLockVersion !== null && yarnLockVersion < YARN_4_LOCKFILE ? LAST_YARN_3 : null;
}

/** The version that `engines` requires, such as `11` of `>=11 <13`, if pnpm of the toolchain would refuse the project. */
function findNewerPnpm(engines: unknown): string | null {
  const least = /\d+/.exec(enginesSchema.safeParse(engines).data?.pnpm ?? "")?.[0];
  return least !== undefined && Number(least) > BUNDLED_PNPM.last ? least : null;
}

/** Returns the start of a file; the empty string if there is no such regular file. */
export async function readHead(file: string): Promise<string> {
  const handle = await openUntrusted(file);
  if (handle === null) return "";
  await using _ = handle;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES));
  return buffer.toString("utf8", 0, bytesRead);
}
