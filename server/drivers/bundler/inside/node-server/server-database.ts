import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import type { PostgresUse } from "../../../../../domain/ports/bundler.ts";
import type { DatabasePart } from "../../../../../domain/shared/postgres-variables.ts";
import { nestedFolders } from "../nested-folders.ts";
import { isFile, type PackageJson, readManifest } from "../package-json.ts";
import { findMigrationScript, type FoundMigration } from "./migration-scripts.ts";
import { readDrizzle, readKnex, readPrisma, type SchemaTool } from "./schema-tools.ts";
import { readProcessLine } from "./procfile.ts";
import { readStartedFolder } from "./start-command.ts";

/** The database of a server, and how it is brought up to date. */
export interface ServerDatabase extends FoundMigration {
  postgres?: PostgresUse;
}

/** Clients of PostgreSQL that connect over TCP. */
const POSTGRES_CLIENTS = ["pg", "postgres", "pg-promise", "slonik", "@prisma/adapter-pg", "pg-native"];
export const SQLITE_CLIENTS = [
  "better-sqlite3",
  "sqlite3",
  "sqlite",
  "@libsql/client",
  "@prisma/adapter-better-sqlite3",
];

/** Commands of a start script that change a database. */
const MIGRATES = /migrat|\bdb push\b|drizzle-kit/;

/** Files that name the variables of a project: `.env.example`, `env-example-relational`, `example.env`. */
const EXAMPLE = /^\.?env\b[\w.-]*(example|sample|template|dist)\b|^(example|sample)\.env$/i;
/** Files that projects read when they start. A committed one mostly has the settings of a developer's machine. */
const SETTINGS = /^\.env(\.production)?$/;

/**
 * Finds which database a server uses, by its tool for migrations or its packages, and what brings it up to date. The current folder
 * is that of the package, after the build.
 *
 * @param command - the start command
 */
export function readServerDatabase(packageJson: PackageJson, command: string): ServerDatabase {
  const folders = packageFolders(packageJson);
  const tool = folders.map((folder) => readTool(folder)).find((found) => found !== null) ?? null;
  const kind = tool?.database ?? readClient(packageJson, folders);
  if (kind === null) return {};
  return {
    ...(kind === "postgres" && { postgres: { variables: readVariables(folders, tool?.urlVariables ?? []) } }),
    ...findMigration(packageJson, command, tool),
  };
}

function findMigration(packageJson: PackageJson, command: string, tool: SchemaTool | null): FoundMigration {
  const release = readProcessLine("release");
  if (release !== null) return { migration: release };
  if (MIGRATES.test(command)) return {};
  const found = tool?.migration ?? null;
  return found === null ? findMigrationScript(packageJson) : { migration: found };
}

/**
 * The folder of the package, that of the server that it starts, those of their dependencies in the same workspace, and those
 * below it in which a server is.
 */
function packageFolders(packageJson: PackageJson): string[] {
  const started = readStartedFolder(packageJson);
  const ofStarted = started === null ? [] : [started, ...linkedFolders(readManifest(started), started)];
  return [...new Set([".", ...linkedFolders(packageJson, "."), ...ofStarted, ...nestedFolders("server")])];
}

/** The folders of the packages in the same workspace on which a package depends. */
function linkedFolders({ dependencies, devDependencies }: PackageJson, base: string): string[] {
  return Object.keys({ ...dependencies, ...devDependencies }).flatMap((name) => {
    const places = [path.join(base, "node_modules", name), path.join("node_modules", name)];
    const link = places.find(
      (place) => lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() && existsSync(place),
    );
    const target = link === undefined ? "node_modules" : path.relative(process.cwd(), realpathSync(link));
    return target.includes("node_modules") || !/^[\w./@-]+$/.test(target) ? [] : [target];
  });
}

function readTool(folder: string): SchemaTool | null {
  return readPrisma(folder) ?? readDrizzle(folder) ?? readKnex(folder);
}

function readClient(own: PackageJson, folders: readonly string[]): "postgres" | "sqlite" | null {
  const manifests = folders.map((folder) => (folder === "." ? own : readManifest(folder)));
  const names = new Set(manifests.flatMap(({ dependencies }) => Object.keys(dependencies ?? {})));
  if (POSTGRES_CLIENTS.some((name) => names.has(name))) return "postgres";
  return SQLITE_CLIENTS.some((name) => names.has(name)) ? "sqlite" : null;
}

const PARTS: readonly (readonly [pattern: RegExp, part: DatabasePart])[] = [
  [/(^|_)(URL|URI|DSN|CONNECTION_STRING)$/, "url"],
  [/_?HOST$/, "host"],
  [/_?PORT$/, "port"],
  [/_?(USER|USERNAME)$/, "user"],
  [/_?(PASSWORD|PASS|PWD)$/, "password"],
  [/_?(NAME|DATABASE|DB)$/, "database"],
];
/** Names of variables of a PostgreSQL database: `DB_HOST`, `POSTGRES_URL`, `TYPEORM_PASSWORD`. */
const DATABASE_NAME = /^(DB|DATABASE|POSTGRES|POSTGRESQL|PG|SQL|TYPEORM|KNEX|DRIZZLE)(_|[A-Z])/;
/** Names of variables that choose the kind of database. */
const KIND_NAME = /_(TYPE|DIALECT|DRIVER|CLIENT|CONNECTION|PROVIDER|ENGINE)$/;
const KINDS = ["postgres", "postgresql", "pg"] as const;

/** The variables that the server reads, by the tool's configuration, and the example files and local settings of the project. */
function readVariables(folders: readonly string[], urlVariables: readonly string[]): Record<string, DatabasePart> {
  const variables: Record<string, DatabasePart> = {};
  for (const file of folders.flatMap((folder) => settingsIn(folder))) {
    const read = [...readFileSync(file, "utf8").matchAll(ASSIGNMENT)].flatMap(([, name = "", value = ""]) => {
      const part = DATABASE_NAME.test(name) ? readPart(name, value) : undefined;
      return part === undefined ? [] : [{ name, part, value }];
    });
    if (SETTINGS.test(path.basename(file)) && read.some(namesPublicHost)) continue;
    for (const { name, part } of read) variables[name] = part;
  }
  for (const name of urlVariables) variables[name] = "url";
  return variables;
}

const ASSIGNMENT = /^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]{0,63})[ \t]*=[ \t]*["']?([^\s"'#]*)/gm;

/** Whether a setting names the host of a database that the project has elsewhere, which no variable replaces. */
function namesPublicHost({ part, value }: { part: DatabasePart; value: string }): boolean {
  if (part !== "url" && part !== "host") return false;
  const host = part === "host" ? value : (/^\w+:\/\/(?:[^/@]*@)?([^/:?]*)/.exec(value)?.[1] ?? "");
  return host.includes(".") && !/^(127\.[\d.]+|0\.0\.0\.0|host\.docker\.internal)$/.test(host);
}

function readPart(name: string, value: string): DatabasePart | undefined {
  if (KIND_NAME.test(name)) return KINDS.find((kind) => kind === value);
  return PARTS.find(([pattern]) => pattern.test(name))?.[1];
}

function settingsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => EXAMPLE.test(name) || SETTINGS.test(name))
    .map((name) => path.join(folder, name))
    .filter(isFile);
}
