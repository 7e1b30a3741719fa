import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { PgliteConnection } from "@mikro-orm/pglite";
import type { TestProject } from "vitest/node";
import { openDatabase } from "../../server/database/open-database.ts";
import { openBoss } from "../../server/drivers/job-queue/pg-boss.ts";
import { createLogger } from "../../server/telemetry/logger.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A data folder with a migrated, empty embedded database, to be copied. */
    embeddedTemplate: string;
  }
}

/** Starting an empty PGlite takes seconds; the suite does it once and copies the result. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(path.join(tmpdir(), "template-"));
  {
    await using database = await openDatabase({ databaseUrl: null, dataDirectory: directory });
    const connection = database.orm.em.getConnection() as unknown as PgliteConnection;
    const storage = { kind: "embedded", database: await connection.getNativeClient() } as const;
    const boss = await openBoss(storage, createLogger("silent"));
    await boss.stop({ graceful: false, close: true });
  }
  project.provide("embeddedTemplate", directory);
  return () => rm(directory, { recursive: true, force: true });
}
