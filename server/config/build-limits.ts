import { totalmem } from "node:os";
import { z } from "zod";

/** What one build may use. */
export interface BuildLimits {
  memoryMb: number;
  installTimeoutMs: number;
  buildTimeoutMs: number;
}

const MEBIBYTE = 1024 * 1024;
const LARGE_MB = 4096;
const SMALL_MB = 2048;

const milliseconds = (fallback: number) =>
  z
    .string()
    .regex(/^\d{1,8}$/, "must be a number of milliseconds from 1000 to 99999999, such as 600000")
    .transform(Number)
    .refine((value) => value >= 1000, "must be a number of milliseconds from 1000 to 99999999, such as 600000")
    .default(fallback);

export const buildLimitVariables = {
  BUILD_MEMORY_MB: z
    .string()
    .regex(/^\d{3,6}$/, "must be a number of MiB from 512 to 999999, such as 4096")
    .transform(Number)
    .refine((value) => value >= 512, "must be a number of MiB from 512 to 999999, such as 4096")
    .optional(),
  INSTALL_TIMEOUT_MS: milliseconds(5 * 60_000),
  BUILD_TIMEOUT_MS: milliseconds(10 * 60_000),
};

type Values = z.infer<z.ZodObject<typeof buildLimitVariables>> & { readonly BUILD_CONCURRENCY: number };

/** Without a setting, a build gets 4 GiB if the machine has this much for each simultaneous one, otherwise 2 GiB. */
export function readBuildLimits(values: Values, machineBytes = availableBytes()): BuildLimits {
  const isLarge = machineBytes / MEBIBYTE >= values.BUILD_CONCURRENCY * LARGE_MB;
  return {
    memoryMb: values.BUILD_MEMORY_MB ?? (isLarge ? LARGE_MB : SMALL_MB),
    installTimeoutMs: values.INSTALL_TIMEOUT_MS,
    buildTimeoutMs: values.BUILD_TIMEOUT_MS,
  };
}

function availableBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
