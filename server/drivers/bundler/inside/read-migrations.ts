import { globSync, lstatSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Migration } from "../../../../domain/ports/bundler.ts";

/** An entry of `d1_databases` in a wrangler configuration. */
export interface D1Binding {
  binding: string;
  database_id?: string;
  database_name?: string;
  migrations_dir?: string;
  migrations_pattern?: string;
}

/** The migration files of a database, in wrangler's order: by the number their name starts with, then by name. */
export function readMigrations(database: D1Binding, root: string, split: (sql: string) => string[]): Migration[] {
  const directory = path.normalize(database.migrations_dir ?? "migrations");
  const pattern = path.normalize(database.migrations_pattern ?? `${directory}/*.sql`);
  return globSync(pattern, { cwd: root })
    .filter((file) => lstatSync(path.join(root, file)).isFile())
    .map((file) => ({ file, name: path.relative(directory, file) }))
    .toSorted((a, b) => compare(a.name, b.name))
    .map(({ file, name }) => ({
      name,
      statements: split(readFileSync(path.join(root, file), "utf8")).filter(doesSomething),
    }));
}

/** A database refuses a statement of nothing but comments, which is how wrangler splits a file of such. */
function doesSomething(statement: string): boolean {
  return /[^;\s]/.test(statement.replaceAll(/\/\*[^]*?\*\/|--.*/g, ""));
}

function compare(a: string, b: string): number {
  const [first, second] = [number(a), number(b)];
  if (first !== second) return first < second ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function number(name: string): number {
  const leading = Number.parseInt(name, 10);
  return Number.isNaN(leading) ? Number.POSITIVE_INFINITY : leading;
}
