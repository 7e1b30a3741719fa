import { EmbeddedPostgres, type ServerLog, settingsOfPool } from "./embedded-postgres.ts";

/** An embedded PostgreSQL that is starting. */
export interface StartingPostgres {
  /** Rejects when the server cannot be started; see `EmbeddedPostgres.start`. */
  server: Promise<EmbeddedPostgres>;
}

/**
 * Begins the start of the server on `folder`, for `poolSize` connections of the ORM. When this returns, its first program runs or has failed to start. From then
 * on, work that blocks this thread, such as loading modules, does not delay the program.
 */
export async function startInBackground(folder: string, log: ServerLog, poolSize: number): Promise<StartingPostgres> {
  const launched = Promise.withResolvers<void>();
  const server = EmbeddedPostgres.start(folder, log, {
    settings: settingsOfPool(poolSize),
    onLaunch: launched.resolve,
  });
  // The caller handles the rejection later, when it awaits the server.
  await Promise.race([launched.promise, server.catch(() => undefined)]);
  return { server };
}
