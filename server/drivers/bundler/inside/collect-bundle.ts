import { createRequire } from "node:module";
import path from "node:path";
import type { AssetRules } from "../../../../domain/ports/bundler.ts";
import type { BundleResult } from "../read-bundle-result.ts";
import { assignBindingIds, type StorageConfig } from "./assign-binding-ids.ts";
import { listIgnoredAssets } from "./list-ignored-assets.ts";
import type { BundlePlan } from "./plan-bundle.ts";
import { type D1Binding, readMigrations } from "./read-migrations.ts";

/** The used part of wrangler's API. It is loaded already: this is wrangler's process. */
interface Wrangler {
  unstable_readConfig(
    args: object,
    options: { hideWarnings: boolean; useRedirectIfAvailable: boolean },
  ): WranglerConfig;
  unstable_splitSqlQuery(sql: string): string[];
}

interface WranglerConfig extends StorageConfig {
  configPath?: string;
  assets?: AssetRules & { directory?: string };
  d1_databases: D1Binding[];
}

/**
 * Collects the contents of a bundle besides its script, and completes the bindings in the script's form. Synchronous,
 * because it runs while wrangler's process exits.
 */
export function collectBundle(plan: BundlePlan, formFile: string): BundleResult {
  const wrangler = createRequire(import.meta.url)("wrangler") as Wrangler;
  const config = wrangler.unstable_readConfig({}, { hideWarnings: true, useRedirectIfAvailable: true });
  const databases = Map.groupBy(
    config.d1_databases,
    (binding) => binding.database_id ?? binding.database_name ?? binding.binding,
  );
  if (databases.size > 1) return { failure: tooManyDatabases(config.d1_databases) };
  assignBindingIds(formFile, config);
  const root = path.dirname(config.configPath ?? path.resolve("package.json"));
  const [database] = config.d1_databases;
  const assets = plan.assets ?? configuredAssets(config.assets, root);
  return {
    framework: plan.framework,
    assets: assets && { ...assets, ignored: listIgnoredAssets(assets.directory) },
    migrations: database === undefined ? [] : readMigrations(database, root, wrangler.unstable_splitSqlQuery),
  };
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
