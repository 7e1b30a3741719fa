import path from "node:path";
import { z } from "zod";
import type { S3Settings } from "../drivers/object-store/s3.ts";
import { ConfigError } from "./config-error.ts";
import { DEFAULT_REGION, s3Variables } from "./s3-settings.ts";
import { url } from "./url-setting.ts";

const wholeNumber = (largest: number, fallback: string) =>
  z
    .string()
    .regex(/^[1-9]\d{0,3}$/, `must be a whole number from 1 to ${largest}`)
    .transform(Number)
    .refine((value) => value <= largest, `must be a whole number from 1 to ${largest}`)
    .prefault(fallback);

/** The variables of backups. */
export const backupVariables = {
  BACKUP_PLACE: z.string().min(1, "must be a folder, or s3://bucket/folder").optional(),
  BACKUP_EVERY_HOURS: wholeNumber(720, "24"),
  BACKUP_KEEP: wholeNumber(1000, "14"),
  BACKUP_KEY_FILE: z.string().min(1, "must be a file with a key, such as /etc/service/backup-key").optional(),
  BACKUP_S3_ENDPOINT: url(["https:", "http:"], "https://s3.eu-central-1.amazonaws.com").optional(),
  BACKUP_S3_REGION: s3Variables.S3_REGION,
  BACKUP_S3_ACCESS_KEY_ID: z.string().optional(),
  BACKUP_S3_SECRET_ACCESS_KEY: z.string().optional(),
};

/** Backups that the service makes by itself. */
export interface BackupSchedule {
  /** A folder, or `s3://bucket/folder`. */
  place: string;
  everyMs: number;
  /** How many backups remain at the place. */
  keep: number;
}

export interface BackupSettings {
  /** `null` when the service makes no backups by itself. */
  schedule: BackupSchedule | null;
  /** The file with the key that encrypts backups; `null` for backups that are not encrypted. */
  keyFile: string | null;
  /** The S3 server of places such as `s3://bucket/folder`; `null` when none is configured. */
  s3: Omit<S3Settings, "bucket" | "prefix"> | null;
}

type BackupValues = z.output<z.ZodObject<typeof backupVariables>>;

const SERVER = ["BACKUP_S3_ENDPOINT", "BACKUP_S3_ACCESS_KEY_ID", "BACKUP_S3_SECRET_ACCESS_KEY"] as const;

/** @throws {ConfigError} that names what is missing */
export function readBackupSettings(values: BackupValues): BackupSettings {
  const keyFile = values.BACKUP_KEY_FILE === undefined ? null : path.resolve(values.BACKUP_KEY_FILE);
  return { keyFile, s3: readServer(values), schedule: readSchedule(values, keyFile) };
}

const HOUR_MS = 60 * 60_000;

function readSchedule(
  { BACKUP_PLACE: place, BACKUP_EVERY_HOURS: hours, BACKUP_KEEP: keep, BACKUP_S3_ENDPOINT: endpoint }: BackupValues,
  keyFile: string | null,
): BackupSchedule | null {
  if (place === undefined) return null;
  const isRemote = place.startsWith("s3://");
  if (isRemote && keyFile === null)
    throw new ConfigError("BACKUP_KEY_FILE must be set too, because BACKUP_PLACE is on an S3 server");
  if (isRemote && endpoint === undefined)
    throw new ConfigError("BACKUP_S3_ENDPOINT must be set too, because BACKUP_PLACE is on an S3 server");
  return { place: isRemote ? place : path.resolve(place), everyMs: hours * HOUR_MS, keep };
}

function readServer(values: BackupValues): BackupSettings["s3"] {
  const missing = SERVER.filter((name) => values[name] === undefined);
  if (missing.length === SERVER.length && values.BACKUP_S3_REGION === undefined) return null;
  if (missing.length > 0)
    throw new ConfigError(`${missing.join(", ")} must be set too, because another BACKUP_S3_ variable is`);
  return {
    endpoint: values.BACKUP_S3_ENDPOINT ?? "",
    region: values.BACKUP_S3_REGION ?? DEFAULT_REGION,
    accessKeyId: values.BACKUP_S3_ACCESS_KEY_ID ?? "",
    secretAccessKey: values.BACKUP_S3_SECRET_ACCESS_KEY ?? "",
  };
}
