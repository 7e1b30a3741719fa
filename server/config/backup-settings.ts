import path from "node:path";
import { z } from "zod";
import type { S3Settings } from "../drivers/object-store/s3.ts";
import { ConfigError } from "./config-error.ts";
import { DEFAULT_REGION, s3Variables } from "./s3-settings.ts";
import { url } from "./url-setting.ts";

/** The variables of backups. */
export const backupVariables = {
  BACKUP_KEY_FILE: z.string().min(1, "must be a file with a key, such as /etc/service/backup-key").optional(),
  BACKUP_S3_ENDPOINT: url(["https:", "http:"], "https://s3.eu-central-1.amazonaws.com").optional(),
  BACKUP_S3_REGION: s3Variables.S3_REGION,
  BACKUP_S3_ACCESS_KEY_ID: z.string().optional(),
  BACKUP_S3_SECRET_ACCESS_KEY: z.string().optional(),
};

export interface BackupSettings {
  /** The file with the key that encrypts backups; `null` for backups that are not encrypted. */
  keyFile: string | null;
  /** The S3 server of places such as `s3://bucket/folder`; `null` when none is configured. */
  s3: Omit<S3Settings, "bucket" | "prefix"> | null;
}

type BackupValues = { [K in keyof typeof backupVariables]?: z.output<(typeof backupVariables)[K]> };

const SERVER = ["BACKUP_S3_ENDPOINT", "BACKUP_S3_ACCESS_KEY_ID", "BACKUP_S3_SECRET_ACCESS_KEY"] as const;

/** @throws {ConfigError} that names what is missing */
export function readBackupSettings(values: BackupValues): BackupSettings {
  const keyFile = values.BACKUP_KEY_FILE === undefined ? null : path.resolve(values.BACKUP_KEY_FILE);
  const missing = SERVER.filter((name) => values[name] === undefined);
  if (missing.length === SERVER.length && values.BACKUP_S3_REGION === undefined) return { keyFile, s3: null };
  if (missing.length > 0)
    throw new ConfigError(`${missing.join(", ")} must be set too, because another BACKUP_S3_ variable is`);
  const s3 = {
    endpoint: values.BACKUP_S3_ENDPOINT ?? "",
    region: values.BACKUP_S3_REGION ?? DEFAULT_REGION,
    accessKeyId: values.BACKUP_S3_ACCESS_KEY_ID ?? "",
    secretAccessKey: values.BACKUP_S3_SECRET_ACCESS_KEY ?? "",
  };
  return { keyFile, s3 };
}
