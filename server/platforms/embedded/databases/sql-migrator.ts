import { z } from "zod";
import type { Migration } from "../../../../domain/ports/bundler.ts";
import { MigrationRefused } from "../../../../domain/ports/sql-databases.ts";

const MIGRATION_TIMEOUT_MS = 60_000;
const SHOWN_CHARACTERS = 500;

/**
 * Runs inside workerd, where the database is. A batch is one transaction, so a migration and the note that it was
 * applied stand or fall together. The table is the one that wrangler keeps.
 */
export const MIGRATOR = `
const TABLE = "CREATE TABLE IF NOT EXISTS d1_migrations(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)";
export default {
  async fetch(request, { DB }) {
    const { name, statements } = await request.json();
    await DB.prepare(TABLE).run();
    if (await DB.prepare("SELECT 1 FROM d1_migrations WHERE name = ?").bind(name).first()) return Response.json({ refused: null });
    const note = DB.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name);
    try {
      await DB.batch([...statements.map((sql) => DB.prepare(sql)), note]);
      return Response.json({ refused: null });
    } catch (error) {
      return Response.json({ refused: String(error.message) });
    }
  },
};`;

const answerSchema = z.object({ refused: z.string().nullable() });

/**
 * Applies one migration through a running migrator, unless it was applied before.
 *
 * @param deadline - when all migrations of the app must be done, in milliseconds since the epoch
 * @throws {MigrationRefused}
 */
export async function applyMigration(
  port: number,
  { name, statements }: Migration,
  deadline: number,
  signal: AbortSignal,
): Promise<void> {
  const timeoutMs = Math.max(1, Math.min(MIGRATION_TIMEOUT_MS, deadline - Date.now()));
  const timeout = AbortSignal.timeout(timeoutMs);
  const body = JSON.stringify({ name, statements: statements.filter((sql) => sql.trim() !== "") });
  const refused = await send(port, body, AbortSignal.any([signal, timeout])).catch((cause: unknown) => {
    if (timeout.aborted) return "it did not finish in time";
    throw cause;
  });
  if (refused !== null) throw new MigrationRefused(`Migration "${name}" was refused: ${plain(refused)}`);
}

async function send(port: number, body: string, signal: AbortSignal): Promise<string | null> {
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body, signal });
  return answerSchema.parse(await response.json()).refused;
}

/** `D1_ERROR: near "x": syntax error at offset 0: SQLITE_ERROR` without its wrapping. */
function plain(reason: string): string {
  return reason
    .replace(/^(D1_\w+: )+/, "")
    .replace(/: SQLITE_\w+( \(.*\))?$/, "")
    .slice(0, SHOWN_CHARACTERS);
}
