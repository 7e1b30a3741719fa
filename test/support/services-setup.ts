import { randomBytes } from "node:crypto";
import type { TestProject } from "vitest/node";
import { TEST_SERVICES } from "../../scripts/test-services.ts";
import { executeOnServer } from "./service/test-databases.ts";
import { createTemplateDatabase } from "./template-database.ts";

/** Creates the template database on the outside PostgreSQL, which other runs may use at the same time. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = TEST_SERVICES.TEST_DATABASE_URL;
  const name = `template_${randomBytes(8).toString("hex")}`;
  await createTemplateDatabase(server, name);
  project.provide("templateDatabase", name);
  return () => executeOnServer(server, `drop database ${name} with (force)`);
}
