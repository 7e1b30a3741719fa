import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { ancestorFolders } from "../ancestor-folders.ts";
import { isFile, type PackageJson, readManifest } from "../package-json.ts";

/** What the configuration of a tool for database schemas says. */
export interface SchemaTool {
  /** `null` for a database that the service does not have, such as MySQL. */
  database: "postgres" | "sqlite" | null;
  /** Variables that contain the connection string. */
  urlVariables: readonly string[];
  /** For a shell, in the folder of the server; `null` if the tool is not installed, or keeps no migrations. */
  migration: string | null;
}

/** The names of databases, as the tools spell them. */
const DATABASES: Readonly<Record<string, SchemaTool["database"]>> = {
  postgresql: "postgres",
  postgres: "postgres",
  pg: "postgres",
  "node-postgres": "postgres",
  sqlite: "sqlite",
  "better-sqlite": "sqlite",
  "better-sqlite3": "sqlite",
  sqlite3: "sqlite",
  libsql: "sqlite",
};

const ENVIRONMENT_NAME = /\benv(?:\(\s*["']|\.|\[["'])([A-Z][A-Z0-9_]{0,63})/g;

/** Other variables in a configuration are hosts and passwords. */
const URL_NAME = /(URL|URI|DSN|CONNECTION)/;

const PRISMA_SCHEMAS = ["prisma/schema.prisma", "schema.prisma", "src/prisma/schema.prisma", "db/schema.prisma"];
const PRISMA_FOLDERS = ["prisma/schema", "prisma"];
const CONFIG_EXTENSIONS = ["ts", "mts", "cts", "js", "mjs", "cjs", "json"];

/** Reads the data source of a Prisma schema below a folder. */
export function readPrisma(folder: string): SchemaTool | null {
  const config = readConfig(folder, "prisma.config") ?? "";
  const declared = /\bschema["']?\s*:\s*(?:path\.join\()?\s*["']([^"']+)["']/.exec(config)?.[1];
  const schema = findSchema(folder, declared ?? readManifestSchema(folder));
  if (schema === null) return null;
  const source = /\bdatasource\s+\w+\s*\{([^}]*)\}/.exec(schema.text)?.[1] ?? "";
  const provider = /\bprovider\s*=\s*"([^"]+)"/.exec(source)?.[1] ?? "";
  const flag = declared === undefined ? ` --schema ${path.relative(folder, schema.file)}` : "";
  return {
    database: DATABASES[provider] ?? null,
    urlVariables: readNames(`${source}\n${config}`),
    migration: commandIn(folder, "prisma", prismaCommand(folder, schema.file) + flag),
  };
}

/** Without migrations, Prisma brings the tables to the state of the schema, unless data would be lost. */
function prismaCommand(folder: string, schema: string): string {
  const hasMigrations = [path.dirname(schema), path.join(folder, "prisma")].some((each) =>
    isFile(path.join(each, "migrations/migration_lock.toml")),
  );
  if (hasMigrations) return "prisma migrate deploy";
  return hasGenerateFlag(folder) ? "prisma db push --skip-generate" : "prisma db push";
}

/** Prisma 7 does not generate its client with this command. */
function hasGenerateFlag(folder: string): boolean {
  return (readVersion(folder, "prisma")?.major ?? 7) < 7;
}

function findSchema(folder: string, declared: string | undefined): { file: string; text: string } | null {
  const own = declared === undefined ? [] : [declared];
  const [files, folders] = [PRISMA_SCHEMAS, PRISMA_FOLDERS].map((usual) =>
    [...own, ...usual].map((name) => path.join(folder, name)),
  ) as [string[], string[]];
  const split = folders.flatMap((each) => schemasIn(each));
  for (const file of [...files, ...split]) {
    const text = isFile(file) ? readFileSync(file, "utf8") : "";
    if (text.includes("datasource")) return { file: files.includes(file) ? file : path.dirname(file), text };
  }
  return null;
}

function schemasIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".prisma"))
      .map((name) => path.join(folder, name));
  } catch {
    // Most projects do not have it.
    return [];
  }
}

function readManifestSchema(folder: string): string | undefined {
  const { prisma } = readManifest<PackageJson & { prisma?: { schema?: unknown } }>(folder);
  return typeof prisma?.schema === "string" ? prisma.schema : undefined;
}

/** Reads the configuration of Drizzle in a folder. */
export function readDrizzle(folder: string): SchemaTool | null {
  const config = readConfig(folder, "drizzle.config");
  if (config === null) return null;
  const dialect = /\b(?:dialect|driver)["']?\s*:\s*["']([\w-]+)["']/.exec(config)?.[1] ?? "";
  const out = /\bout["']?\s*:\s*["']([^"']+)["']/.exec(config)?.[1] ?? "drizzle";
  const hasMigrations = isFile(path.join(folder, out, "meta/_journal.json"));
  const database = DATABASES[dialect] ?? null;
  const command = drizzleCommand(folder, { config, database, hasMigrations });
  return {
    database,
    urlVariables: readNames(config).filter((name) => URL_NAME.test(name)),
    migration: command === null ? null : commandIn(folder, "drizzle-kit", command),
  };
}

interface DrizzleProject {
  config: string;
  database: SchemaTool["database"];
  hasMigrations: boolean;
}

/**
 * Before 0.21, the commands of Drizzle name the database, and none applies migrations. Later ones refuse the configuration
 * of an earlier version, which names a driver and no dialect: such projects apply their migrations themselves.
 */
function drizzleCommand(folder: string, { config, database, hasMigrations }: DrizzleProject): string | null {
  const { major = 1, minor = 0 } = readVersion(folder, "drizzle-kit") ?? {};
  if (major > 0 || minor >= 21) {
    if (/\bdriver\b/.test(config) && !/\bdialect\b/.test(config)) return null;
    return hasMigrations ? "drizzle-kit migrate" : "drizzle-kit push";
  }
  if (hasMigrations || database === null) return null;
  return database === "postgres" ? "drizzle-kit push:pg" : "drizzle-kit push:sqlite";
}

/** Reads the configuration of Knex in a folder. */
export function readKnex(folder: string): SchemaTool | null {
  const config = readConfig(folder, "knexfile");
  if (config === null) return null;
  const clients = [...config.matchAll(/\bclient["']?\s*:\s*["']([\w-]+)["']/g)].map(([, name = ""]) => DATABASES[name]);
  return {
    database: clients.includes("postgres") ? "postgres" : (clients[0] ?? null),
    urlVariables: readNames(config).filter((name) => URL_NAME.test(name)),
    migration: commandIn(folder, "knex", "knex migrate:latest"),
  };
}

function readConfig(folder: string, name: string): string | null {
  const file = CONFIG_EXTENSIONS.map((extension) => path.join(folder, `${name}.${extension}`)).find(isFile);
  return file === undefined ? null : readFileSync(file, "utf8");
}

function readNames(text: string): string[] {
  return [...new Set([...text.matchAll(ENVIRONMENT_NAME)].map(([, name = ""]) => name))];
}

function findInstalled(folder: string, file: string): string | null {
  const folders = ancestorFolders(path.resolve(folder));
  return folders.map((each) => path.join(each, file)).find(isFile) ?? null;
}

function readVersion(folder: string, name: string): { major: number; minor: number } | null {
  const file = findInstalled(folder, `node_modules/${name}/package.json`);
  const found = file === null ? null : /"version":\s*"(\d+)\.(\d+)/.exec(readFileSync(file, "utf8"));
  return found === null ? null : { major: Number(found[1]), minor: Number(found[2]) };
}

/** A command of an installed program, in the folder of its package; `null` if the program is not installed. */
function commandIn(folder: string, program: string, command: string): string | null {
  if (findInstalled(folder, `node_modules/.bin/${program}`) === null) return null;
  return folder === "." ? command : `cd ${folder} && PATH="$PWD/node_modules/.bin:$PATH" ${command}`;
}
