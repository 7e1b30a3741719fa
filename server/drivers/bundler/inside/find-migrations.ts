import { existsSync, lstatSync } from "node:fs";
import path from "node:path";
import type { Migration } from "../../../../domain/ports/bundler.ts";
import { type D1Binding, listMigrationFiles, migrationsPattern, readMigrations } from "./read-migrations.ts";
import type { Wrangler, WranglerConfig } from "./wrangler-api.ts";

/** Folders in which migrations are looked for, only to name them in a warning. */
const COMMON_FOLDERS = ["migrations", "drizzle", "drizzle/migrations", "db/migrations", "src/db/migrations"];

/** An entry of `d1_databases`, and the folder that its paths are relative to. */
interface MigrationSource {
  database: D1Binding;
  root: string;
}

/**
 * Reads the migrations of the app's database. If a build tool generated the configuration, they are taken from the
 * configuration of the repository: build tools copy `migrations_dir` unchanged to a file in another folder.
 *
 * @returns also warnings about a database that gets no migrations
 */
export function findMigrations(
  wrangler: Wrangler,
  config: WranglerConfig,
): { migrations: Migration[]; warnings: string[] } {
  const [first] = config.d1_databases;
  if (first === undefined) return { migrations: [], warnings: databaseInOtherEnvironment(wrangler, config) };
  const database = config.d1_databases.find(({ migrations_dir: directory }) => directory !== undefined) ?? first;
  const source = findSource(wrangler, config, database);
  const migrations = readMigrations(source.database, source.root, wrangler.unstable_splitSqlQuery);
  return { migrations, warnings: migrations.length === 0 ? describeMissing(source) : [] };
}

function findSource(wrangler: Wrangler, config: WranglerConfig, database: D1Binding): MigrationSource {
  const root = config.configPath === undefined ? process.cwd() : path.dirname(config.configPath);
  if (config.configPath === undefined || config.configPath === config.userConfigPath) return { database, root };
  const own = findRepositoryConfig(wrangler, config);
  const declared = own && findDeclaration(wrangler, own, database.binding, config.targetEnvironment);
  if (declared) return { database: declared, root: path.dirname(own) };
  // A build tool can also get the database from its own configuration file, such as vite.config.ts.
  const roots = [root, process.cwd()];
  return { database, root: roots.find((each) => listMigrationFiles(database, each).length > 0) ?? process.cwd() };
}

/** The configuration from which a build tool generated `config`. The generated file may name it. */
function findRepositoryConfig(wrangler: Wrangler, { configPath, userConfigPath }: WranglerConfig): string | undefined {
  const { rawConfig } = wrangler.experimental_readRawConfig(configPath === undefined ? {} : { config: configPath }, {});
  const named = typeof rawConfig.userConfigPath === "string" ? rawConfig.userConfigPath : undefined;
  return [named, userConfigPath].find(
    (file) => file !== undefined && lstatSync(file, { throwIfNoEntry: false })?.isFile() === true,
  );
}

function findDeclaration(
  wrangler: Wrangler,
  file: string,
  name: string,
  environment: string | undefined,
): D1Binding | undefined {
  const { d1_databases } = wrangler.unstable_readConfig({ config: file, env: environment }, { hideWarnings: true });
  return d1_databases.find(({ binding }) => binding === name);
}

function describeMissing({ database, root }: MigrationSource): string[] {
  const { binding, migrations_dir: directory, migrations_pattern: pattern } = database;
  const folder = path.normalize(directory ?? "migrations");
  const nested = `${folder}/*/migration.sql`;
  if (pattern === undefined && listMigrationFiles({ binding, migrations_pattern: nested }, root).length > 0)
    return [
      `The SQL database ${binding} has no tables: its migrations are in subfolders of "${folder}". Set migrations_dir to "${folder}" and migrations_pattern to "${nested}" in the wrangler configuration.`,
    ];
  if (directory !== undefined || pattern !== undefined)
    return [
      `The SQL database ${binding} has no tables: no file matches "${migrationsPattern(database)}". Set migrations_dir in the wrangler configuration to a folder with migrations, relative to that file.`,
    ];
  const found = COMMON_FOLDERS.find((each) => listMigrationFiles({ binding, migrations_dir: each }, root).length > 0);
  if (found === undefined) return [];
  return [
    `The SQL database ${binding} has no tables: it has no migrations_dir. Set migrations_dir to "${found}" in the wrangler configuration.`,
  ];
}

/** Named environments are not deployed, as with `wrangler deploy`. They do not inherit databases, or pass them on. */
function databaseInOtherEnvironment(
  wrangler: Wrangler,
  { userConfigPath, targetEnvironment }: WranglerConfig,
): string[] {
  if (userConfigPath === undefined || targetEnvironment !== undefined || !existsSync(userConfigPath)) return [];
  const { rawConfig } = wrangler.experimental_readRawConfig({ config: userConfigPath }, {});
  const named = Object.entries(rawConfig.env ?? {}).find(([, settings]) => (settings?.d1_databases ?? []).length > 0);
  if (named === undefined) return [];
  return [
    `The app has no SQL database: only the environment "${named[0]}" of the wrangler configuration declares one, and the top level is deployed. Declare d1_databases at the top level too.`,
  ];
}
