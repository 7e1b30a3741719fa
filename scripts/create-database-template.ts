// Creates the empty database that the first start of the service copies, because `initdb` takes a second. Does nothing if it
// exists. `npm run setup` runs it.
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import path from "node:path";
import { DatabaseUnavailable } from "../server/database/database-unavailable.ts";
import { templateFolder } from "../server/database/embedded/cluster-template.ts";
import { createCluster } from "../server/database/embedded/create-cluster.ts";
import { PostgresLauncher } from "../server/database/embedded/postgres-launcher.ts";
import { findPostgres } from "../server/database/embedded/postgres-package.ts";

async function createTemplate(native: string, template: string): Promise<void> {
  await mkdir(path.dirname(template), { recursive: true });
  const root = await mkdtemp(`${template}.new-`);
  try {
    const data = path.join(root, "data");
    await createCluster(new PostgresLauncher(native, root), { root, data, native });
    await rename(data, template);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

try {
  const native = findPostgres();
  const template = templateFolder(native);
  if (!existsSync(template)) await createTemplate(native, template);
} catch (error) {
  if (!(error instanceof DatabaseUnavailable)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
