import { totalmem } from "node:os";
import { z } from "zod";

/** What one build may use. */
export interface BuildLimits {
  memoryMb: number;
  diskMb: number;
  installTimeoutMs: number;
  buildTimeoutMs: number;
}

const MEBIBYTE = 1024 * 1024;
const LARGE_MB = 4096;
const SMALL_MB = 2048;

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
 * Without a setting, a build gets 4 GiB of memory if the machine has this much for each simultaneous one, otherwise 2 GiB.
 * It may write 4 GiB, or 2 GiB if only workspaces of this size fit in the memory of the machine.
 */
export function readBuildLimits(values: Values, machineBytes = availableBytes()): BuildLimits {
  const { BUILD_CONCURRENCY: count } = values;
  const machineMb = machineBytes / MEBIBYTE;
  const fitsInMemory = (diskMb: number) =>
    machineMb >= (count * (diskMb + WORKSPACE_EXTRA_MB + SMALL_MB)) / VOLUME_SHARE;
  return {
    memoryMb: values.BUILD_MEMORY_MB ?? (machineMb >= count * LARGE_MB ? LARGE_MB : SMALL_MB),
    diskMb: values.BUILD_DISK_MB ?? (fitsInMemory(SMALL_MB) && !fitsInMemory(LARGE_MB) ? SMALL_MB : LARGE_MB),
    installTimeoutMs: values.INSTALL_TIMEOUT_MS,
    buildTimeoutMs: values.BUILD_TIMEOUT_MS,
  };
}

function availableBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
