import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { WorkspaceId } from "../../../domain/ports/agent-workspaces.ts";
import { openDatabase } from "../../../server/database/open-database.ts";
import { encodeArchive } from "../../../server/drivers/agent-workspaces/encode-archive.ts";
import { importFolder } from "../../../server/drivers/agent-workspaces/import-folder.ts";
import { StoredAgentWorkspaces } from "../../../server/drivers/agent-workspaces/stored-agent-workspaces.ts";
import { WorkspaceRecords } from "../../../server/drivers/agent-workspaces/workspace-records.ts";
import { FilesystemObjectStore } from "../../../server/drivers/object-store/filesystem.ts";
import { createLogger } from "../../../server/telemetry/logger.ts";
import { createTestDatabase } from "../../support/service/test-databases.ts";
import { PROJECT } from "../../support/service/service-process.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const COUNT = 400;

/** The folder of an earlier version. */
async function givenFolder(count: number) {
  await using opening = new AsyncDisposableStack();
  const folder = opening.use(await temporaryFolder());
  const root = path.join(folder.path, "agent-workspaces");
  const { databaseUrl } = opening.use(await createTestDatabase());
  const { orm } = opening.use(await openDatabase({ databaseUrl, dataDirectory: "" }, createLogger("silent")));
  const objectsFolder = path.join(folder.path, "objects");
  const objects = new FilesystemObjectStore(objectsFolder);
  const records = new WorkspaceRecords(orm.em);
  await mkdir(path.join(root, ".drafts"), { recursive: true });
  await writeFile(path.join(root, ".drafts", "unfinished"), "x");
  const orgIds = [randomUUID(), randomUUID()];
  const ids = Array.from({ length: count }, (_, at) => ({ orgId: orgIds[at % 2]!, agentId: randomUUID() }));
  for (const orgId of orgIds) await mkdir(path.join(root, orgId));
  for (const id of ids) await writeFile(path.join(root, id.orgId, id.agentId), await archiveWith(id.agentId));
  const workspaces = new StoredAgentWorkspaces({ objects, records });
  const readNote = async (id: WorkspaceId) => {
    const part = await workspaces.readFile(id, "note", { offset: 0, length: 100 });
    return Buffer.from(part?.bytes ?? []).toString();
  };
  const opened = opening.move();
  return {
    ...{ root, databaseUrl, objects, objectsFolder, records, ids, workspaces, readNote },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function archiveWith(note: string): Promise<Uint8Array> {
  async function* contents() {
    yield Buffer.from(note);
  }
  return (await encodeArchive([["note", note.length, 0]], contents)).body as Uint8Array;
}

test("the archives of an earlier version are moved to the object store, and its folder is removed", async () => {
  await using given = await givenFolder(3);
  const [cleared, ...others] = given.ids;
  // A program of another process has stored files already.
  await given.records.addImported(others[0]!, { key: "newer", bytes: 10 });
  expect(await importFolder(given.root, given.objects, given.records)).toBe(3);
  expect(await given.readNote(cleared!)).toBe(cleared!.agentId);
  expect(await given.records.findArchive(others[0]!)).toBe("newer");
  expect(await given.workspaces.measure(cleared!.orgId)).toBeGreaterThan(100);
  expect(existsSync(given.root)).toBe(false);
  expect(await importFolder(given.root, given.objects, given.records)).toBe(0);
});

test("a move that is killed at any moment loses no files, and the next one finishes it", async () => {
  await using given = await givenFolder(COUNT);
  let kills = 0;
  for (const moved of [1, 40, 150]) {
    const args = ["test/support/agents/import-process.ts", given.databaseUrl, given.root, given.objectsFolder];
    const child = spawn(process.execPath, args, { cwd: PROJECT, stdio: "inherit" });
    const ended = once(child, "exit");
    while (child.exitCode === null && (await countFiles(given.root)) > COUNT - moved) await delay(1);
    child.kill("SIGKILL");
    if (((await ended) as [number | null, string | null])[1] === "SIGKILL") kills++;
  }
  expect(kills).toBe(3);
  expect(await countFiles(given.root)).toBeGreaterThan(0);
  await importFolder(given.root, given.objects, given.records);
  expect(existsSync(given.root)).toBe(false);
  for (const id of given.ids) expect(await given.readNote(id)).toBe(id.agentId);
  expect(await given.workspaces.listAll()).toHaveLength(COUNT);
});

async function countFiles(root: string): Promise<number> {
  const names = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  return names.filter((entry) => entry.isFile() && !entry.parentPath.endsWith(".drafts")).length;
}
