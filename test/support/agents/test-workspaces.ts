import path from "node:path";
import type { ObjectStore } from "../../../domain/ports/object-store.ts";
import { openDatabase } from "../../../server/database/open-database.ts";
import type { Orm } from "../../../server/database/orm.ts";
import { StoredAgentWorkspaces } from "../../../server/drivers/agent-workspaces/stored-agent-workspaces.ts";
import { WorkspaceRecords } from "../../../server/drivers/agent-workspaces/workspace-records.ts";
import { FilesystemObjectStore } from "../../../server/drivers/object-store/filesystem.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";
import { createTestDatabase } from "../service/test-databases.ts";
import { temporaryFolder } from "../temporary-folder.ts";

export interface TestWorkspaces extends AsyncDisposable {
  workspaces: StoredAgentWorkspaces;
  records: WorkspaceRecords;
  objects: ObjectStore;
  orm: Orm;
  databaseUrl: string;
  /** Opens them as another process does. */
  openOther(): StoredAgentWorkspaces;
}

/**
 * Opens the files of agents with a database of their own.
 *
 * @param settings - `databaseUrl`: a database to use instead, outside of Vitest
 */
export async function openTestWorkspaces(
  settings: { objects?: ObjectStore; databaseUrl?: string } = {},
): Promise<TestWorkspaces> {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const databaseUrl = settings.databaseUrl ?? opening.use(await createTestDatabase()).databaseUrl;
  const { orm } = opening.use(await openDatabase({ databaseUrl, dataDirectory: "" }, createLogger("silent")));
  const objects = settings.objects ?? new FilesystemObjectStore(path.join(folder.path, "objects"));
  const records = new WorkspaceRecords(orm.em);
  const openOther = () => new StoredAgentWorkspaces({ objects, records, clearWaitMs: 200 });
  const opened = opening.move();
  return {
    ...{ workspaces: openOther(), records, objects, orm, databaseUrl, openOther },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
