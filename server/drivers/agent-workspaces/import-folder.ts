import { createReadStream } from "node:fs";
import { lstat, readdir, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import type { WorkspaceId } from "../../../domain/ports/agent-workspaces.ts";
import type { ObjectStore } from "../../../domain/ports/object-store.ts";
import { isUuid } from "../../../domain/shared/ids.ts";
import { inParallel } from "../../../domain/shared/in-parallel.ts";
import { nullIfMissing } from "../../files/missing-file.ts";
import { bucketOf, IMPORTED_TOKEN, keyOf } from "./archive-place.ts";
import type { WorkspaceRecords } from "./workspace-records.ts";

const CONCURRENCY = 8;
/** Unfinished archives of an earlier version. */
const DRAFTS = ".drafts";

/**
 * Moves the archives of an earlier version, `<organization>/<agent>` in a folder, to the object store. A file is removed after
 * its archive and its row are stored, so a repeated call continues what a crash interrupted.
 *
 * @returns how many archives it moved
 */
export async function importFolder(root: string, objects: ObjectStore, records: WorkspaceRecords): Promise<number> {
  const names = await readdir(root).catch(nullIfMissing);
  if (names === null) return 0;
  await rm(path.join(root, DRAFTS), { recursive: true, force: true });
  const found: WorkspaceId[] = [];
  for (const orgId of names.filter(isUuid))
    for (const agentId of (await readdir(path.join(root, orgId))).filter(isUuid)) found.push({ orgId, agentId });
  await inParallel(found, CONCURRENCY, (id) =>
    importArchive(path.join(root, id.orgId, id.agentId), id, objects, records),
  );
  for (const folder of [...names.filter(isUuid).map((name) => path.join(root, name)), root]) await removeEmpty(folder);
  return found.length;
}

async function importArchive(
  file: string,
  id: WorkspaceId,
  objects: ObjectStore,
  records: WorkspaceRecords,
): Promise<void> {
  const key = keyOf(IMPORTED_TOKEN);
  const { size } = await lstat(file);
  await objects.put(bucketOf(id), key, createReadStream(file), { durable: true });
  await records.addImported(id, { key, bytes: size });
  await rm(file);
}

/** A folder with anything else stays. */
async function removeEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOTEMPTY") throw error;
  });
}
