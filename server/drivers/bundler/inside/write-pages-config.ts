import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { CONFIG_POINTER } from "./wrangler-api.ts";

/** For apps without a compatibility date. It is fixed, so that updates of the platform do not change existing apps. */
export const DEFAULT_COMPATIBILITY_DATE = "2026-07-01";

const FOLDER = ".wrangler/pages";

/** The settings of a configuration that wrangler accepts for a Pages project. */
const PAGES_SETTINGS = [
  "name",
  "compatibility_date",
  "compatibility_flags",
  "vars",
  "d1_databases",
  "kv_namespaces",
  "r2_buckets",
  "durable_objects",
  "services",
  "queues",
  "ai",
  "vectorize",
  "hyperdrive",
  "analytics_engine_datasets",
  "version_metadata",
  "browser",
];

/**
 * Writes a wrangler configuration for a Pages project that has none, and a pointer to it, which wrangler follows. Most
 * of these projects use Node's modules: on Pages the flag is a setting outside the repository.
 *
 * @param settings - the settings of the repository's configuration, if it has one
 * @param directory - the folder of static files, relative to the root of the source
 */
export function writePagesConfig(settings: Readonly<Record<string, unknown>> | null, directory: string): void {
  const kept = Object.entries(settings ?? {}).filter(([key]) => PAGES_SETTINGS.includes(key));
  const config = {
    name: "app",
    compatibility_date: DEFAULT_COMPATIBILITY_DATE,
    compatibility_flags: ["nodejs_compat"],
    ...Object.fromEntries(kept),
    pages_build_output_dir: path.relative(FOLDER, directory) || ".",
  };
  mkdirSync(path.dirname(CONFIG_POINTER), { recursive: true });
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(`${FOLDER}/wrangler.json`, JSON.stringify(config));
  writeFileSync(CONFIG_POINTER, JSON.stringify({ configPath: "../pages/wrangler.json" }));
}
