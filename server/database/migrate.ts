import { readdir } from "node:fs/promises";
import path from "node:path";
import type { Constructor } from "@mikro-orm/core";
import type { Migration, Migrator } from "@mikro-orm/migrations";
import { MIGRATIONS_FOLDER, type Orm } from "./orm.ts";

/** Any number that no other program on the database uses for an advisory lock. */
const MIGRATION_LOCK = 7_240_118_211;

/** SQLSTATE `undefined_table`: no migration has been applied to this database. */
const UNDEFINED_TABLE = "42P01";

/** Applies the pending migrations. Processes that start at the same time apply them one after the other. */
export async function migrate(orm: Orm): Promise<void> {
  if (await isUpToDate(orm)) return;
  orm.config.set("migrations", { ...orm.config.get("migrations"), migrationsList: await importMigrations() });
  const migrator = await openMigrator(orm);
  await orm.em.fork().transactional(async (em) => {
    await em.execute(`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
    await migrator.up();
  });
}

/** Opens the migrator of MikroORM. It is imported on demand, because most starts have nothing to migrate. */
export async function openMigrator(orm: Orm): Promise<Migrator> {
  const { Migrator } = await import("@mikro-orm/migrations");
  return new Migrator(orm.em);
}

/** Imports all migrations, which MikroORM would otherwise read from a folder: a bundle of the service has no such folder. */
async function importMigrations(): Promise<{ name: string; class: Constructor<Migration> }[]> {
  const names = await listMigrations();
  return Promise.all(
    names.map(async (name) => {
      const exported = (await import(`./migrations/${name}.ts`)) as Record<string, Constructor<Migration>>;
      const migration = exported[name];
      if (migration === undefined) throw new Error(`The migration ${name} does not export a class of this name.`);
      return { name, class: migration };
    }),
  );
}

async function listMigrations(): Promise<string[]> {
  const files = await readdir(MIGRATIONS_FOLDER);
  return files.map((file) => path.basename(file, ".ts")).toSorted();
}

async function isUpToDate(orm: Orm): Promise<boolean> {
  const applied = await listApplied(orm);
  return (await listMigrations()).every((name) => applied.has(name));
}

async function listApplied(orm: Orm): Promise<Set<string>> {
  try {
    const rows = await orm.em.fork().execute<{ name: string }[]>("select name from mikro_orm_migrations");
    return new Set(rows.map(({ name }) => name));
  } catch (error) {
    if ((error as { code?: unknown }).code === UNDEFINED_TABLE) return new Set();
    throw error;
  }
}
