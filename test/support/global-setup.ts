import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { TestProject } from "vitest/node";
import { EmbeddedPostgres } from "../../server/database/embedded/embedded-postgres.ts";
import { openDatabase } from "../../server/database/open-database.ts";
import { openBoss } from "../../server/drivers/job-queue/pg-boss-queue.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { databaseUrl, executeOnServer, TEMPLATE_DATABASE } from "./service/databases.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder of the embedded PostgreSQL that all tests of the run share. */
    postgresFolder: string;
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

/** Starts one PostgreSQL for the whole run, with a template from which each test copies its database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await promisify(execFile)(process.execPath, ["scripts/link-postgres.ts"]);
  const log = createLogger("silent");
  await using starting = new AsyncDisposableStack();
  const folder = await mkdtemp(path.join(tmpdir(), "postgres-"));
  starting.defer(() => rm(folder, { recursive: true, force: true }));
  const server = starting.use(await EmbeddedPostgres.start(folder, log, SETTINGS));
  await createTemplate(server.url);
  project.provide("postgresFolder", folder);
  const started = starting.move();
  return () => started.disposeAsync();
}

async function createTemplate(server: string): Promise<void> {
  const log = createLogger("silent");
  await executeOnServer(server, `create database ${TEMPLATE_DATABASE}`);
  const url = databaseUrl(server, TEMPLATE_DATABASE);
  await using _database = await openDatabase({ databaseUrl: url, dataDirectory: "" }, log);
  const boss = await openBoss(url, log);
  await boss.stop({ graceful: false, close: true });
}
