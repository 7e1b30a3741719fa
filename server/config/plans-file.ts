import { readFileSync } from "node:fs";
import { z } from "zod";
import { DEFAULT_LIMITS, type PlanLimits } from "../../domain/plans/plans.ts";
import { ConfigError } from "./config-error.ts";

const MEBIBYTE = 1024 * 1024;

export const BUILT_IN_PLANS: Readonly<Record<string, PlanLimits>> = {
  free: { ...DEFAULT_LIMITS, apps: 10 },
  team: { ...DEFAULT_LIMITS, apps: 100, storageBytes: 5 * 1024 * MEBIBYTE },
  scale: { ...DEFAULT_LIMITS, apps: 10_000, storageBytes: 10 * 1024 * MEBIBYTE },
};

const plan = z
  .strictObject({
    apps: z.int().nonnegative(),
    always_on_apps: z.int().nonnegative().default(DEFAULT_LIMITS.alwaysOnApps),
    deploys: z.strictObject({ limit: z.int().positive(), window_seconds: z.int().min(1).max(86_400) }).optional(),
    storage_mb: z.int().positive().optional(),
    gateways: z.int().nonnegative().default(DEFAULT_LIMITS.gateways),
    model_calls: z
      .strictObject({ limit: z.int().nonnegative(), window_seconds: z.int().min(1).max(86_400) })
      .optional(),
    builder_tokens: z.int().nonnegative().default(DEFAULT_LIMITS.builderTokens),
    documents: z.int().nonnegative().default(DEFAULT_LIMITS.documents),
    document_mb: z.int().positive().optional(),
  })
  .transform(
    ({
      apps,
      always_on_apps: alwaysOnApps,
      deploys,
      builder_tokens: builderTokens,
      documents,
      gateways,
      storage_mb: storageMb,
      document_mb: documentMb,
      model_calls: modelCalls,
    }): PlanLimits => ({
      apps,
      alwaysOnApps,
      deploys:
        deploys === undefined
          ? DEFAULT_LIMITS.deploys
          : { limit: deploys.limit, windowSeconds: deploys.window_seconds },
      gateways,
      builderTokens,
      modelCalls:
        modelCalls === undefined
          ? DEFAULT_LIMITS.modelCalls
          : { limit: modelCalls.limit, windowSeconds: modelCalls.window_seconds },
      storageBytes: storageMb === undefined ? DEFAULT_LIMITS.storageBytes : storageMb * MEBIBYTE,
      documents,
      documentBytes: documentMb === undefined ? DEFAULT_LIMITS.documentBytes : documentMb * MEBIBYTE,
    }),
  );

const EXAMPLE = '{"startup": {"apps": 50, "deploys": {"limit": 20, "window_seconds": 300}, "storage_mb": 2048}}';

/**
 * Reads plans from a JSON file.
 *
 * @throws {ConfigError} that names each invalid field
 */
export function readPlansFile(file: string): Readonly<Record<string, PlanLimits>> {
  const parsed = z.record(z.string(), plan).safeParse(readJson(file));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the file"}: ${message}`);
  throw new ConfigError(`PLANS_FILE must be a JSON file such as ${EXAMPLE}\n${problems.join("\n")}`);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new ConfigError(`PLANS_FILE must be a readable JSON file such as ${EXAMPLE}`, { cause });
  }
}
