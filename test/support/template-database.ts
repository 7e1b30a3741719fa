import { openDatabase } from "../../server/database/open-database.ts";
import { openBoss } from "../../server/drivers/job-queue/pg-boss-queue.ts";
import { createLogger } from "../../server/telemetry/logger.ts";
import { databaseUrl, executeOnServer } from "./service/test-databases.ts";

/** Creates a database with every migration, from which tests copy theirs. */
export async function createTemplateDatabase(server: string, name: string): Promise<void> {
  const log = createLogger("silent");
  await executeOnServer(server, `create database ${name}`);
  const url = databaseUrl(server, name);
  await using _database = await openDatabase({ databaseUrl: url, dataDirectory: "" }, log);
  const boss = await openBoss(url, log);
  await boss.stop({ graceful: false, close: true });
}
