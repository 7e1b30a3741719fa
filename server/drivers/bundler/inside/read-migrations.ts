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

/** The glob pattern of a database's migration files, relative to the folder of the configuration. */
export function migrationsPattern({ migrations_dir: directory, migrations_pattern: pattern }: D1Binding): string {
  return path.normalize(pattern ?? `${directory ?? "migrations"}/*.sql`);
}

/** Lists the migration files of a database, relative to `root`. */
export function listMigrationFiles(database: D1Binding, root: string): string[] {
  return globSync(migrationsPattern(database), { cwd: root }).filter((file) =>
    lstatSync(path.join(root, file)).isFile(),
  );
}

/** Reads the migration files of a database in wrangler's order: by their leading number, then by name. */
export function readMigrations(
  database: D1Binding,
  root: string,
  splitStatements: (sql: string) => string[],
): Migration[] {
  const directory = path.normalize(database.migrations_dir ?? "migrations");
  return listMigrationFiles(database, root)
    .map((file) => ({ file, name: path.relative(directory, file) }))
    .toSorted((a, b) => compareNames(a.name, b.name))
    .map(({ file, name }) => ({
      name,
      statements: splitStatements(readFileSync(path.join(root, file), "utf8")).filter(isStatement),
    }));
}

/** Wrangler returns a comment at the end of a file as a statement, which a database rejects. */
function isStatement(text: string): boolean {
  return /[^;\s]/.test(text.replaceAll(/\/\*[^]*?\*\/|--.*/g, ""));
}

function compareNames(a: string, b: string): number {
  const [first, second] = [leadingNumber(a), leadingNumber(b)];
  if (first !== second) return first < second ? -1 : 1;
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** A name without a number sorts last. */
function leadingNumber(name: string): number {
  const number = Number.parseInt(name, 10);
  return Number.isNaN(number) ? Number.POSITIVE_INFINITY : number;
}
