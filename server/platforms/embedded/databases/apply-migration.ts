import { z } from "zod";
import type { Migration } from "../../../../domain/ports/bundler.ts";
import { MigrationFailed } from "../../../../domain/ports/sql-databases.ts";

const MIGRATION_TIMEOUT_MS = 60_000;
const MAX_REASON_LENGTH = 500;

/**
 * Runs in workerd, which has the database open. A batch is one transaction, so a migration and its entry in the table
 * commit together. wrangler uses the same table.
 */
export const MIGRATION_SCRIPT = `
const TABLE = "CREATE TABLE IF NOT EXISTS d1_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";
export default {
  async fetch(request, { DB }) {
    const { name, statements } = await request.json();
    await DB.prepare(TABLE).run();
    if (await DB.prepare("SELECT 1 FROM d1_migrations WHERE name = ?").bind(name).first()) return Response.json({ error: null });
    const entry = DB.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name);
    try {
      await DB.batch([...statements.map((sql) => DB.prepare(sql)), entry]);
      return Response.json({ error: null });
    } catch (error) {
      return Response.json({ error: String(error.message) });
    }
  },
};`;

/** How long all migrations of one call may take. */
const ALL_MIGRATIONS_MS = 5 * 60_000;

/**
 * Applies migrations in their order through a worker that runs `MIGRATION_SCRIPT`. Each has its own time limit. Without the one for
 * all of them, many slow migrations could block a build worker.
 *
 * @throws {MigrationFailed}
 */
export async function applyMigrations(
  port: number,
  migrations: readonly Migration[],
  signal: AbortSignal,
  timeoutMs = ALL_MIGRATIONS_MS,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (const migration of migrations) await applyMigration(port, migration, deadline, signal);
}

const responseSchema = z.object({ error: z.string().nullable() });

/**
 * Applies one migration through a worker that runs `MIGRATION_SCRIPT`, unless it was applied before.
 *
 * @param deadline - when all migrations of the app must be applied, in milliseconds since the epoch
 * @throws {MigrationFailed}
 */
async function applyMigration(
  port: number,
  { name, statements }: Migration,
  deadline: number,
  signal: AbortSignal,
): Promise<void> {
  const timeoutMs = Math.max(1, Math.min(MIGRATION_TIMEOUT_MS, deadline - Date.now()));
  const timeout = AbortSignal.timeout(timeoutMs);
  const body = JSON.stringify({ name, statements: statements.filter((sql) => sql.trim() !== "") });
  const error = await send(port, body, AbortSignal.any([signal, timeout])).catch((cause: unknown) => {
    if (timeout.aborted) return "it did not finish in time";
    throw cause;
  });
  if (error !== null) throw new MigrationFailed(`Migration "${name}" failed: ${plainReason(error)}`);
}

async function send(port: number, body: string, signal: AbortSignal): Promise<string | null> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, signal });
  return responseSchema.parse(await response.json()).error;
}

/** Removes the codes around a reason such as `D1_ERROR: near "x": syntax error at offset 0: SQLITE_ERROR`. */
function plainReason(error: string): string {
  return error
    .replace(/^(D1_\w+: )+/, "")
    .replace(/: SQLITE_\w+( \(.{0,500}\))?$/, "")
    .slice(0, MAX_REASON_LENGTH);
}
