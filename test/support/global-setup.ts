import { execFile } from "node:child_process";
import { mkdtemp, rm, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { EmbeddedPostgres } from "../../server/database/embedded/embedded-postgres.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { createTemplateDatabase } from "./template-database.ts";

const TEMPLATE_DATABASE = "service_template";

/** Most systems mount a file system in memory here. In a container it can be too small. */
const MEMORY_FOLDER = "/dev/shm";
const MIN_MEMORY_BYTES = 2 * 1024 ** 3;

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
 * of shared builds.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await promisify(execFile)(process.execPath, ["scripts/link-postgres.ts"]);
  const log = createLogger("silent");
  await using starting = new AsyncDisposableStack();
  const folder = await createFolder(await findDatabaseFolder(), "postgres-", starting);
  project.provide("buildsFolder", await createFolder(tmpdir(), "builds-", starting));
  const server = starting.use(await EmbeddedPostgres.start(folder, log, SETTINGS));
  await createTemplateDatabase(server.url, TEMPLATE_DATABASE);
  project.provide("templateDatabase", TEMPLATE_DATABASE);
  project.provide("postgresFolder", folder);
  const started = starting.move();
  return () => started.disposeAsync();
}

/** A copy of the template consists of hundreds of small files. In memory, it takes a tenth of the processor time. */
async function findDatabaseFolder(): Promise<string> {
  const found = await statfs(MEMORY_FOLDER).catch(() => null);
  return found !== null && found.bavail * found.bsize >= MIN_MEMORY_BYTES ? MEMORY_FOLDER : tmpdir();
}

/** Creates a temporary folder that is removed when the run ends. */
async function createFolder(parent: string, prefix: string, starting: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(path.join(parent, prefix));
  starting.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
