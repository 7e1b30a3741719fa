import { totalmem } from "node:os";
import { z } from "zod";

/** What one build may use, and how many run at the same time. */
export interface BuildLimits {
  concurrency: number;
  memoryMb: number;
  diskMb: number;
  installTimeoutMs: number;
  buildTimeoutMs: number;
}

const MEBIBYTE = 1024 * 1024;
const LARGE_MB = 4096;
const SMALL_MB = 2048;
const MIN_MB = 512;
/** The part of the machine's memory that all builds may have together. The rest is for the service, its database and apps. */
const MAX_SHARE = 0.75;

/** What the workspace of a build needs beside what the build may write: room for the copy of its static files. */
export const WORKSPACE_EXTRA_MB = 768;
/** The part of the memory that workspaces and builds may have together, as `volumeProblem` counts it. */
const VOLUME_SHARE = 0.85;

const mebibytes = z
  .string()
  .regex(/^\d{3,6}$/, "must be a number of MiB from 512 to 999999, such as 4096")
  .transform(Number)
  .refine((value) => value >= 512, "must be a number of MiB from 512 to 999999, such as 4096")
  .optional();

const milliseconds = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,8}$/, "must be a number of milliseconds from 1000 to 99999999, such as 600000")
    .transform(Number)
    .refine((value) => value >= 1000, "must be a number of milliseconds from 1000 to 99999999, such as 600000")
    .default(fallback);

export const buildLimitVariables = {
  BUILD_MEMORY_MB: mebibytes,
  BUILD_DISK_MB: mebibytes,
  INSTALL_TIMEOUT_MS: milliseconds(5 * 60_000),
  BUILD_TIMEOUT_MS: milliseconds(10 * 60_000),
};

type Values = z.infer<z.ZodObject<typeof buildLimitVariables>> & { readonly BUILD_CONCURRENCY: number };

/**
 * Without a setting, a build gets 4 GiB if the machine has enough for two such builds, otherwise 2 GiB. At most as many builds
 * run at the same time as three quarters of the machine's memory suffice for, and always one. A build may write 4 GiB, or 2 GiB
 * if only workspaces of this size fit in the memory of the machine.
 */
export function readBuildLimits(values: Values, machineBytes = availableBytes()): BuildLimits {
  const machineMb = machineBytes / MEBIBYTE;
  const availableMb = Math.floor(machineMb * MAX_SHARE);
  const smallMb = Math.max(MIN_MB, Math.min(SMALL_MB, availableMb));
  const memoryMb = values.BUILD_MEMORY_MB ?? (availableMb >= 2 * LARGE_MB ? LARGE_MB : smallMb);
  const concurrency = Math.max(1, Math.min(values.BUILD_CONCURRENCY, Math.floor(availableMb / memoryMb)));
  const fitsInMemory = (diskMb: number) =>
    machineMb >= (concurrency * (diskMb + WORKSPACE_EXTRA_MB + SMALL_MB)) / VOLUME_SHARE;
  return {
    concurrency,
    memoryMb,
    diskMb: values.BUILD_DISK_MB ?? (fitsInMemory(SMALL_MB) && !fitsInMemory(LARGE_MB) ? SMALL_MB : LARGE_MB),
    installTimeoutMs: values.INSTALL_TIMEOUT_MS,
    buildTimeoutMs: values.BUILD_TIMEOUT_MS,
  };
}

function availableBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
