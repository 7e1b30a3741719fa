import { existsSync, readFileSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { DatabaseUnavailable } from "../database-unavailable.ts";
import { copyTemplate, readPackageVersion } from "./cluster-template.ts";
import { type PostgresLauncher, startFailure } from "./postgres-launcher.ts";

/** The role that owns everything in the embedded database. */
export const SUPERUSER = "service";

const INITDB_OPTIONS = [
  ...["--username", SUPERUSER, "--auth", "trust", "--no-instructions", "--encoding", "UTF8"],
  // The built-in collation sorts by code point on every machine; a C library's collation changes with its version.
  ...["--locale", "C", "--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"],
];

/**
 * Creates the data folder of a PostgreSQL server, unless it exists: as a copy of the template, or with `initdb` if there is
 * no template.
 *
 * @param folders.root - the folder of the embedded database
 * @param folders.data - the data folder in it; after a crash it is absent or complete
 * @throws {DatabaseUnavailable} when the folder contains a database of another version, or `initdb` fails
 */
export async function createCluster(
  launcher: PostgresLauncher,
  folders: { root: string; data: string; native: string },
): Promise<void> {
  const { root, data, native } = folders;
  refuseEarlierDatabase(root);
  if (existsSync(data)) return refuseOtherMajor(data, native);
  const draft = `${data}.new`;
  await rm(draft, { recursive: true, force: true });
  const isCopied = await copyTemplate(native, draft);
  const { ended } = await launcher.start("initdb", draft, isCopied ? ["--sync-only"] : INITDB_OPTIONS);
  const { code, reason } = await ended;
  if (code !== 0) throw startFailure(reason);
  await rename(draft, data);
  await syncFolder(root);
}

function refuseEarlierDatabase(root: string): void {
  const folder = path.join(root, "pglite");
  if (existsSync(folder))
    throw new DatabaseUnavailable(
      `${folder} contains a PGlite database of an earlier version of the service, which this version cannot read. Set DATA_DIR to a new folder, or remove the folder ${path.dirname(root)} to start with an empty database.`,
    );
}

function refuseOtherMajor(data: string, native: string): void {
  const found = Number(readFileSync(path.join(data, "PG_VERSION"), "utf8"));
  const major = Number.parseInt(readPackageVersion(native), 10);
  if (found !== major)
    throw new DatabaseUnavailable(
      `${data} was created by PostgreSQL ${found}, and the embedded PostgreSQL is version ${major}. docs/operations.md describes the upgrade.`,
    );
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
