import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { EmbeddedPostgres } from "../../server/database/embedded/embedded-postgres.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { MEMORY, memoryFolder } from "./memory-folder.ts";
import { removeAbandonedFolders } from "./temporary-folder.ts";
import { createTemplateDatabase } from "./template-database.ts";

const TEMPLATE_DATABASE = "service_template";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the embedded PostgreSQL that all tests of the run share. */
    postgresFolder: string;
    /** The database with every migration that the others are copied from. */
    templateDatabase: string;
    /** The folder of the builds that several tests of the run use. */
    buildsFolder: string;
  }
}

/** Nothing has to survive a crash here. Every service of a test has connections of its own. */
const SETTINGS = {
  fsync: "off",
  full_page_writes: "off",
  synchronous_commit: "off",
  max_connections: "400",
  shared_buffers: "128MB",
};

/**
 * Starts one PostgreSQL for the whole run, with a template from which each test copies its database, and creates the folder
 * of shared builds. Removes what runs that were killed have left.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await promisify(execFile)(process.execPath, ["scripts/link-postgres.ts"]);
  for (const parent of [tmpdir(), MEMORY]) if (existsSync(parent)) await removeAbandonedFolders(parent);
  const log = createLogger("silent");
  await using starting = new AsyncDisposableStack();
  const { path: folder } = starting.use(await memoryFolder());
  project.provide("buildsFolder", starting.use(await memoryFolder()).path);
  const server = starting.use(await EmbeddedPostgres.start(folder, log, { settings: SETTINGS }));
  await createTemplateDatabase(server.url, TEMPLATE_DATABASE);
  project.provide("templateDatabase", TEMPLATE_DATABASE);
  project.provide("postgresFolder", folder);
  const started = starting.move();
  return () => started.disposeAsync();
}
