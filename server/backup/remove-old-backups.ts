import type { BackupRepository } from "./backup-repository.ts";
import { readIndex, readManifest } from "./manifest.ts";

/**
 * Removes all backups but the newest ones, and the chunks that none of these needs, also those of interrupted backups. A crash
 * leaves chunks that the next call removes. No other process may be adding a backup.
 *
 * @param keep - at least 1
 * @throws {BackupError} when a kept backup cannot be read; no chunk is removed then
 */
export async function removeOldBackups(
  repository: BackupRepository,
  keep: number,
): Promise<{ removed: string[]; bytes: number }> {
  const backups = await repository.listBackups();
  const removed = backups.slice(0, -keep);
  const used = new Set<string>();
  for (const id of backups.slice(-keep)) {
    const manifest = await readManifest(repository, id);
    for (const chunk of [await repository.manifestChunk(id), ...manifest.index.chunks]) used.add(chunk);
    for await (const entry of readIndex(repository, manifest))
      if ("chunks" in entry) for (const chunk of entry.chunks) used.add(chunk);
  }
  for (const id of removed) await repository.removeBackup(id);
  return { removed, bytes: await repository.removeUnusedChunks(used) };
}
