import { globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { PackageJson } from "../package-json.ts";
import { type ServerDatabase, SQLITE_CLIENTS } from "./server-database.ts";

/** A variable with the absolute path of a SQLite database as its default: `process.env.A || "/b.db"`. */
const DATABASE_PATH =
  /\bprocess\.env(?:\.([A-Z][A-Z\d_]*)|\[["']([A-Z][A-Z\d_]*)["']\])\s*(?:\|\||\?\?)\s*["'`](\/[^"'`\s$]{1,300}\.(?:db|sqlite3?))["'`]/g;
/** Where a server can write. */
const WRITABLE = /^\/(?:build|data|tmp)\//;

const MAX_FILES = 500;
const MAX_BYTES = 256 * 1024;

/** Lets commands of a server set variables with the paths of its SQLite databases, unless its owner has set them. */
export function keepDatabasesInData<T extends ServerCommands>(server: T, packageJson: PackageJson): T {
  const settings = readSettings(packageJson);
  if (settings === null) return server;
  const { command, database } = server;
  const { migration } = database;
  return {
    ...server,
    command: `${settings}; ${command}`,
    database: { ...database, ...(migration !== undefined && { migration: `${settings}; ${migration}` }) },
  };
}

interface ServerCommands {
  command: string;
  database: ServerDatabase;
}

/** Sets a path in /data for each database in a folder where a server cannot write, such as /etc or /var/lib. */
function readSettings(packageJson: PackageJson): string | null {
  if (!SQLITE_CLIENTS.some((name) => Object.hasOwn(packageJson.dependencies ?? {}, name))) return null;
  const paths = new Map<string, string>();
  for (const file of listSources()) {
    for (const [, plain, quoted, value = ""] of readFileSync(file, "utf8").matchAll(DATABASE_PATH)) {
      const name = path.posix.basename(value);
      if (!WRITABLE.test(value) && /^[\w.-]+$/.test(name)) paths.set(plain ?? quoted ?? "", `/data/${name}`);
    }
  }
  const settings = [...paths].map(([name, value]) => `${name}="\${${name}:-${value}}"`);
  return settings.length === 0 ? null : `export ${settings.join(" ")}`;
}

function listSources(): string[] {
  return globSync("**/*.{js,cjs,mjs,ts,cts,mts}", { exclude: ["node_modules/**", "**/node_modules/**"] })
    .slice(0, MAX_FILES)
    .filter((file) => {
      const status = statSync(file, { throwIfNoEntry: false });
      return status !== undefined && status.isFile() && status.size <= MAX_BYTES;
    });
}
