import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { PackageJson } from "../package-json.ts";
import { type ServerDatabase, SQLITE_CLIENTS } from "./server-database.ts";

/** A variable with the path of a SQLite database as its default: `process.env.A || "/b.db"`, `process.env["A"] ?? "file:./b.db"`. */
const DATABASE_PATH =
  /\bprocess\.env(?:\.([A-Z][A-Z\d_]*)|\[["']([A-Z][A-Z\d_]*)["']\])\s*(?:\|\||\?\?)\s*["'`](file:)?([^"'`\s$:]{1,300}\.(?:db|sqlite3?))["'`]/g;
/** What opens a database at a relative path. Other code, such as `path.join`, may add the path to that of another folder. */
const OPENS = /(?:\bnew [\w.]{0,30}(?:Database|Sequelize|DatabaseSync)\(|\bopen\(|\b(?:filename|storage|url):)\s*$/;
const MAX_CALL_LENGTH = 60;
/** Absolute paths at which a server can write. They are left as they are. */
const WRITABLE = /^\/(?:build|data|tmp)\//;

const MAX_FILES = 500;
const MAX_BYTES = 256 * 1024;

/** Lets commands of a server set variables with the paths of its SQLite databases, unless its owner has set them. */
export function keepDatabasesInData<T extends ServerCommands>(server: T, packageJson: PackageJson): T {
  const settings = readSettings(packageJson);
  return settings === null ? server : prependToCommands(server, `${settings};`);
}

/** The commands that run in the sandbox of a server. */
export interface ServerCommands {
  command: string;
  database: ServerDatabase;
}

/** Lets another command run before the commands of a server. */
export function prependToCommands<T extends ServerCommands>(server: T, first: string): T {
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
    const text = readFileSync(file, "utf8");
    for (const { 1: plain, 2: quoted, 3: scheme = "", 4: value = "", index } of text.matchAll(DATABASE_PATH)) {
      const before = text.slice(Math.max(0, index - MAX_CALL_LENGTH), index);
      const isUsable = path.isAbsolute(value) ? !WRITABLE.test(value) : OPENS.test(before) && !isDeployed(value, file);
      const name = path.isAbsolute(value) ? path.basename(value) : value.replace(/^[./]+/, "").replaceAll("/", "-");
      if (isUsable && /^[\w.-]+$/.test(name)) paths.set(plain ?? quoted ?? "", `${scheme}/data/${name}`);
    }
  }
  const settings = [...paths].map(([name, value]) => `${name}="\${${name}:-${value}}"`);
  return settings.length === 0 ? null : `export ${settings.join(" ")}`;
}

/** Whether the project has a database at a path, relative to its folder or to that of the file that names it. */
function isDeployed(value: string, file: string): boolean {
  return [".", path.dirname(file)].some((folder) => existsSync(path.join(folder, value)));
}

function listSources(): string[] {
  return globSync("**/*.{js,cjs,mjs,ts,cts,mts}", { exclude: ["node_modules/**", "**/node_modules/**"] })
    .slice(0, MAX_FILES)
    .filter((file) => {
      const status = statSync(file, { throwIfNoEntry: false });
      return status !== undefined && status.isFile() && status.size <= MAX_BYTES;
    });
}
