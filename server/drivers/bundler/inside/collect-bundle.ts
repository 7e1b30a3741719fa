import { createRequire } from "node:module";
import path from "node:path";
import type { AssetRules } from "../../../../domain/ports/bundler.ts";
import { leftOut } from "./list-ignored-assets.ts";
import { type D1Binding, readMigrations } from "./read-migrations.ts";
import { nameStorage, type StorageConfig } from "./assign-binding-ids.ts";
import type { BundlePlan } from "./plan-bundle.ts";
import type { BundleResult } from "./bundle-result.ts";

/** The part of wrangler's interface that is used here; it is loaded already, because this is its process. */
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

/** Tells what belongs to a bundle beside its script. It does nothing asynchronous: wrangler's process is ending. */
export function collect(plan: BundlePlan, formFile: string): BundleResult {
  const wrangler = createRequire(import.meta.url)("wrangler") as Wrangler;
  const config = wrangler.unstable_readConfig({}, { hideWarnings: true, useRedirectIfAvailable: true });
  const databases = Map.groupBy(
    config.d1_databases,
    (binding) => binding.database_id ?? binding.database_name ?? binding.binding,
  );
  if (databases.size > 1) return { failure: tooManyDatabases(config.d1_databases) };
  nameStorage(formFile, config);
  const root = path.dirname(config.configPath ?? path.resolve("package.json"));
  const [database] = config.d1_databases;
  const assets = plan.assets ?? configuredAssets(config.assets, root);
  return {
    framework: plan.framework,
    assets: assets && { ...assets, leftOut: leftOut(assets.directory) },
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
  return {
    message: `The app declares ${bindings.length} SQL databases (${bindings.map(({ binding }) => binding).join(", ")}), and an app has one`,
    advice: "Keep one entry in d1_databases, or let all of them name the same database_id.",
  };
}
