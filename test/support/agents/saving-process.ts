/** Replaces the files of an agent again and again, and prints the number of each change that was saved. For a test that kills it. */
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { openDatabase } from "../../../server/database/open-database.ts";
import { StoredAgentWorkspaces } from "../../../server/drivers/agent-workspaces/stored-agent-workspaces.ts";
import { WorkspaceRecords } from "../../../server/drivers/agent-workspaces/workspace-records.ts";
import { FilesystemObjectStore } from "../../../server/drivers/object-store/filesystem.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";

const [databaseUrl = "", root = "", orgId = "", agentId = "", first = "1"] = process.argv.slice(2);
await using database = await openDatabase({ databaseUrl, dataDirectory: "" }, createLogger("silent"));
const records = new WorkspaceRecords(database.orm.em);
const workspaces = new StoredAgentWorkspaces({ objects: new FilesystemObjectStore(root), records });
// Of an earlier process, which was killed.
await records.releaseAll();
const folder = await mkdtemp(path.join(tmpdir(), "saving-"));
const options = { readOnly: false, signal: new AbortController().signal };
for (let n = Number(first); ; n++) {
  for (const name of ["one", "two"]) await writeFile(path.join(folder, name), `${n} `.repeat(200_000));
  await workspaces.open({ orgId, agentId }, options, (opened) => opened.save(folder));
  process.stdout.write(`${n}\n`);
}
