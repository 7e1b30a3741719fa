import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { type Database, openDatabase } from "../server/database/open-database.ts";
import { createLogger } from "../server/telemetry/logger.ts";

/**
 * Opens an embedded database with all migrations. It is removed on disposal. Its schema seems to have no functions: only
 * migrations define them, and the reverse of a difference would create them again, whatever `ignoreRoutines` says.
 */
export async function openScratchOrm(): Promise<Pick<Database, "orm"> & AsyncDisposable> {
  await using opening = new AsyncDisposableStack();
  const dataDirectory = await mkdtemp(path.join(tmpdir(), "migration-"));
  opening.defer(() => rm(dataDirectory, { recursive: true }));
  const { orm } = opening.use(await openDatabase({ databaseUrl: null, dataDirectory }, createLogger("warn")));
  Object.assign(orm.em.getPlatform().getSchemaHelper() ?? {}, { getAllRoutines: () => Promise.resolve([]) });
  const opened = opening.move();
  return { orm, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
