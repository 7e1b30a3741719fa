/** Moves the workspaces of an earlier version, for a test that kills this process. */
import { openDatabase } from "../../../server/database/open-database.ts";
import { importFolder } from "../../../server/drivers/agent-workspaces/import-folder.ts";
import { WorkspaceRecords } from "../../../server/drivers/agent-workspaces/workspace-records.ts";
import { FilesystemObjectStore } from "../../../server/drivers/object-store/filesystem.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";

const [databaseUrl = "", root = "", objects = ""] = process.argv.slice(2);
await using database = await openDatabase({ databaseUrl, dataDirectory: "" }, createLogger("silent"));
await importFolder(root, new FilesystemObjectStore(objects), new WorkspaceRecords(database.orm.em));
