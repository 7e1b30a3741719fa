import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import type { AssetRules } from "../../../../domain/ports/bundler.ts";
import type { BundleResult } from "../read-bundle-result.ts";
import { completeUploadForm } from "./complete-upload-form.ts";
import { describeIgnoredSettings } from "./describe-ignored-settings.ts";
import { findMigrations } from "./find-migrations.ts";
import { describeIgnoredRules } from "./ignored-rules.ts";
import { listIgnoredAssets } from "./list-ignored-assets.ts";
import type { BundlePlan } from "./plan-bundle.ts";
import type { D1Binding } from "./read-migrations.ts";
import { loadWrangler, type Wrangler, type WranglerConfig } from "./wrangler-api.ts";

/**
 * Collects the contents of a bundle besides its script, and completes the bindings in the script's form. Synchronous,
 * because it runs while wrangler's process exits.
 */
export function collectBundle(plan: BundlePlan, formFile: string): BundleResult {
  const wrangler = loadWrangler();
  const config = readDeployedConfig(wrangler);
  const databases = Map.groupBy(
    config.d1_databases,
    (binding) => binding.database_id ?? binding.database_name ?? binding.binding,
  );
  if (databases.size > 1) return { failure: tooManyDatabases(config.d1_databases) };
  completeUploadForm(formFile, config, plan.pages?.readRoutes() ?? null);
  const root = path.dirname(config.configPath ?? path.resolve("package.json"));
  const assets = plan.assets ?? configuredAssets(config.assets, root);
  const { migrations, warnings } = findMigrations(wrangler, config);
  return {
    framework: plan.framework,
    assets: assets && { ...assets, ignored: listIgnoredAssets(assets.directory, plan.pages !== null) },
    migrations,
    warnings: [
      ...describeIgnoredSettings(config),
      ...(assets === null
        ? []
        : [...warnOfEmptyFolder(assets.directory), ...describeIgnoredRules(assets.directory, assets.rules)]),
      ...warnings,
      ...(plan.warnings ?? []),
    ],
  };
}

function warnOfEmptyFolder(directory: string): string[] {
  const isEmpty = existsSync(directory) && readdirSync(directory).length === 0;
  const name = path.relative(process.cwd(), path.resolve(directory));
  return isEmpty && !name.startsWith(".wrangler")
    ? [`The folder of static files, ${name}, is empty after the build.`]
    : [];
}

/** A Pages project has the settings of its environment `production`, if it has one. */
function readDeployedConfig(wrangler: Wrangler): WranglerConfig {
  const options = { hideWarnings: true, useRedirectIfAvailable: true };
  const config = wrangler.unstable_readConfig({}, options);
  const isPages = config.pages_build_output_dir !== undefined;
  return isPages ? wrangler.unstable_readConfig({ env: "production" }, options) : config;
}

function configuredAssets(
  assets: WranglerConfig["assets"],
  root: string,
): { directory: string; rules: AssetRules } | null {
  if (assets?.directory === undefined) return null;
  const { html_handling, not_found_handling, run_worker_first } = assets;
  return {
    directory: path.relative(process.cwd(), path.resolve(root, assets.directory)),
    rules: { html_handling, not_found_handling, run_worker_first },
  };
}

function tooManyDatabases(bindings: readonly D1Binding[]): { message: string; advice: string } {
  const names = bindings.map(({ binding }) => binding).join(", ");
  return {
    message: `The app declares ${bindings.length} SQL databases (${names}). An app can have only one.`,
    advice: "Keep one entry in d1_databases, or give all entries the same database_id.",
  };
}
