import { readFile } from "node:fs/promises";
import { createBackup } from "../backup/create-backup.ts";
import { BackupError } from "../backup/backup-error.ts";
import { createTargetFolder, openTarget } from "../backup/backup-target.ts";
import { restoreBackup } from "../backup/restore-backup.ts";
import type { Config } from "../config.ts";
import { takeOver } from "../backup/take-over.ts";
import { moveDatabase } from "./move-database.ts";
import { type Options, readKeep, UsageError } from "./options.ts";

/** A command that does not need the database of the service. */
type StandaloneCommand = (config: Config, place: string | undefined, options: Options) => Promise<object>;

/** The commands of `npm run admin` that open the data folder themselves. Each returns what it prints. */
export const STANDALONE_COMMANDS: Readonly<Record<string, StandaloneCommand>> = {
  backup: async (config, place, options) => {
    const keep = readKeep(options);
    const address = requirePlace(place);
    const secret = await readKey(config);
    using target = await openTarget(address, config.backup);
    requireKey(target.isRemote, secret);
    await createTargetFolder(address);
    return await createBackup(config, target, { secret, keep, signal: new AbortController().signal });
  },
  restore: async (config, place, { backup, "take-over": takesOver }) => {
    const restored = place === undefined && takesOver ? {} : await restore(config, requirePlace(place), backup);
    return { ...restored, ...(takesOver && (await takeOver(config))) };
  },
  "move-database": (config) => moveDatabase(config),
};

async function restore(config: Config, address: string, backup: string | undefined): Promise<object> {
  const secret = await readKey(config);
  using target = await openTarget(address, config.backup);
  return await restoreBackup(config, target, { secret, backup });
}

function requirePlace(place: string | undefined): string {
  if (place !== undefined && place !== "") return place;
  throw new UsageError("The place of the backups is missing: a folder, or s3://bucket/folder");
}

/** A backup contains the secrets of the installation and of its apps, so it leaves the machine encrypted only. */
function requireKey(isRemote: boolean, secret: string | null): void {
  if (!isRemote || secret !== null) return;
  throw new UsageError(
    "Backups on an S3 server must be encrypted. Set BACKUP_KEY_FILE to a file with the output of: openssl rand -hex 32",
  );
}

const MIN_KEY_LENGTH = 32;

async function readKey({ backup: { keyFile } }: Config): Promise<string | null> {
  if (keyFile === null) return null;
  const key = await readFile(keyFile, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new BackupError(`BACKUP_KEY_FILE: ${keyFile} cannot be read (${error.code}).`);
  });
  if (key.trim().length >= MIN_KEY_LENGTH) return key.trim();
  throw new BackupError(
    `BACKUP_KEY_FILE: ${keyFile} must have ${MIN_KEY_LENGTH} characters or more, such as the output of: openssl rand -hex 32`,
  );
}
