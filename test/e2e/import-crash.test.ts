import pg from "pg";
import { expect } from "vitest";
import { createTestDatabase } from "../support/service/test-databases.ts";
import { claudeFile, importFile } from "../support/service/import-transcript.ts";
import { mainAgentId } from "../support/service/main-agent.ts";
import { createInstallation } from "../support/service/service-process.ts";
import { hazard, verifies } from "../support/verifies.ts";

const ENTRIES = 5000;

verifies(
  hazard(41),
  "a kill of the service during an import leaves nothing of the transcript, and a repetition imports it",
  async () => {
    const file = claudeFile(ENTRIES);
    await using database = await createTestDatabase();
    await using installation = await createInstallation();
    const start = () => installation.start({ LOG_LEVEL: "silent", DATABASE_URL: database.databaseUrl });
    const killed = await start();
    const other = new pg.Client({ connectionString: database.databaseUrl });
    await other.connect();
    const count = async (sql: string) => Number((await other.query<{ count: string }>(sql)).rows[0]!.count);
    try {
      // The import waits for the row of its agent when all entries are inserted.
      await other.query("begin");
      await other.query("select from agents where id = $1 for update", [await mainAgentId(killed.rest)]);
      const importing = importFile(killed.rest, file).then(
        ({ status }) => status,
        () => null,
      );
      const waiting =
        "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      await expect.poll(() => count(waiting)).toBe(1);
      await killed.end("SIGKILL");
      expect(await importing).toBeNull();
      await other.query("commit");
      await expect.poll(() => count(waiting)).toBe(0);
      for (const table of ["session_entries", "sessions"]) expect(await count(`select count(*) from ${table}`)).toBe(0);
    } finally {
      await other.end();
    }
    const { status, body } = await importFile((await start()).rest, file);
    expect([status, body]).toMatchObject([200, { added: ENTRIES, existing: 0, tokens: { input: ENTRIES } }]);
  },
);
