import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { PackageJson } from "../package-json.ts";
import { type ServerDatabase, SQLITE_CLIENTS } from "./server-database.ts";

/**
 * A variable with the path of a SQLite database as its default: `process.env.A || "/b.db"`, `process.env["A"] ?? "file:./b.db"`. Not in
 * a call of `join`, which would add the path to another one.
 */
const DATABASE_PATH =
  /(?<!\bjoin\([^\n]{0,200})\bprocess\.env(?:\.([A-Z][A-Z\d_]*)|\[["']([A-Z][A-Z\d_]*)["']\])\s*(?:\|\||\?\?)\s*["'`](file:)?([^"'`\s$:]{1,300}\.(?:db|sqlite3?))["'`]/g;
/** Where a server can write, without what it finds there. */
const WRITABLE = /^\/(?:build|data|tmp)\//;

const MAX_FILES = 500;
const MAX_BYTES = 256 * 1024;

/** Lets commands of a server set variables with the paths of its SQLite databases, unless its owner has set them. */
export function keepDatabasesInData<T extends ServerCommands>(server: T, packageJson: PackageJson): T {
  const settings = readSettings(packageJson);
  return settings === null ? server : beforeCommands(server, `${settings};`);
}

/** The commands that run in the sandbox of a server. */
export interface ServerCommands {
  command: string;
  database: ServerDatabase;
}

/** Lets another command run before the commands of a server. */
export function beforeCommands<T extends ServerCommands>(server: T, first: string): T {
  const { command, database } = server;
  const { migration } = database;
  return {
    ...server,
    command: `${first} ${command}`,
    database: { ...database, ...(migration !== undefined && { migration: `${first} ${migration}` }) },
  };
}

/**
 * Sets a path in /data for each database in a folder where a server cannot write, such as /etc or /var/lib, and for each one in the
 * folder of the project, whose changes do not stay. A database that is part of the project is left there.
 */
function readSettings(packageJson: PackageJson): string | null {
  if (!SQLITE_CLIENTS.some((name) => Object.hasOwn(packageJson.dependencies ?? {}, name))) return null;
  const paths = new Map<string, string>();
  for (const file of listSources()) {
    for (const [, plain, quoted, scheme = "", value = ""] of readFileSync(file, "utf8").matchAll(DATABASE_PATH)) {
      const name = path.posix.basename(value);
      const isDeployed = !path.isAbsolute(value) && existsSync(value);
      if (!WRITABLE.test(value) && !isDeployed && /^[\w.-]+$/.test(name))
        paths.set(plain ?? quoted ?? "", `${scheme}/data/${name}`);
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
