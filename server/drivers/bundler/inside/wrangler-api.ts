import { createRequire } from "node:module";
import type { AssetRules } from "../../../../domain/ports/bundler.ts";
import type { StorageConfig } from "./assign-binding-ids.ts";
import type { IgnoredSettings } from "./describe-ignored-settings.ts";
import type { D1Binding } from "./read-migrations.ts";

interface ReadOptions {
  hideWarnings?: boolean;
  useRedirectIfAvailable?: boolean;
}

/** The used part of wrangler's API. */
export interface Wrangler {
  /** Reads and validates a configuration. Without `config` it is the one of the current folder. */
  unstable_readConfig(args: { config?: string; env?: string | undefined }, options: ReadOptions): WranglerConfig;
  /** Parses a configuration without validation. */
  experimental_readRawConfig(args: { config?: string }, options: ReadOptions): { rawConfig: RawWranglerConfig };
  unstable_splitSqlQuery(sql: string): string[];
}

export interface WranglerConfig extends StorageConfig, IgnoredSettings {
  /** The absolute path of the file. */
  configPath?: string;
  /** The configuration of the repository, when `configPath` is a file that a build tool generated from it. */
  userConfigPath?: string;
  /** The named environment that a build tool has resolved. */
  targetEnvironment?: string;
  assets?: AssetRules & { directory?: string };
  d1_databases: D1Binding[];
  pages_build_output_dir?: string;
}

export interface RawWranglerConfig {
  userConfigPath?: unknown;
  env?: Record<string, { d1_databases?: unknown[] } | undefined>;
}

/** The names of wrangler's configuration, in the order in which it looks for them. */
export const WRANGLER_CONFIGS = ["wrangler.json", "wrangler.jsonc", "wrangler.toml"];

/** The file by which a build tool names the configuration that it generated. */
export const CONFIG_POINTER = ".wrangler/deploy/config.json";

/** Loads wrangler's API. It costs no time in wrangler's own process, where it is loaded already. */
export function loadWrangler(): Wrangler {
  return createRequire(import.meta.url)("wrangler") as Wrangler;
}
