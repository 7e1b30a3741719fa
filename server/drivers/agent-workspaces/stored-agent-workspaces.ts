import {
  type AgentWorkspaces,
  type FilePart,
  type OpenWorkspace,
  type SavedWorkspace,
  type WorkspaceContent,
  type WorkspaceFile,
  type WorkspaceId,
  WorkspaceInUse,
} from "../../../domain/ports/agent-workspaces.ts";
import { ObjectMissing, type ObjectStore } from "../../../domain/ports/object-store.ts";
import { KeyedLock } from "../../../domain/shared/keyed-lock.ts";
import { type ArchiveEntry, contentOffsets, formatIndex } from "./archive-format.ts";
import { bucketOf, keyOf, workspaceOf } from "./archive-place.ts";
import { type EncodedArchive, encodeArchive } from "./encode-archive.ts";
import { readTree, scanTree } from "./scan-tree.ts";
import { openArchive, type StoredArchive } from "./stored-archive.ts";
import { WorkspaceLease } from "./workspace-lease.ts";
import type { WorkspaceRecords } from "./workspace-records.ts";

const READ_ONLY = 'This run can only read them, because its token does not have the scope "everything".';
const NOT_COMMITTED = {
  removed: "The agent was deleted.",
  lost: "Another program has got the workspace, because the service could not reach its database for some seconds. Run the program again.",
};

export interface StoredAgentWorkspacesOptions {
  objects: ObjectStore;
  records: WorkspaceRecords;
  clearWaitMs?: number;
}

/**
 * Stores the files of an agent as one archive in the object store. A row in the database names the current archive, and has
 * the lease of the program that may replace it, so any number of processes can share them. An archive is never changed: a
 * program stores another one, and the row is updated if the program still has its lease.
 */
export class StoredAgentWorkspaces implements AgentWorkspaces {
  readonly #objects: ObjectStore;
  readonly #records: WorkspaceRecords;
  readonly #clearWaitMs: number;
  /** So that programs of this process get the lease in the order of their calls, and only one of them asks for it. */
  readonly #locks = new KeyedLock();

  constructor({ objects, records, clearWaitMs = 10_000 }: StoredAgentWorkspacesOptions) {
    this.#objects = objects;
    this.#records = records;
    this.#clearWaitMs = clearWaitMs;
  }

  async open<T>(
    id: WorkspaceId,
    { readOnly, signal }: { readOnly: boolean; signal: AbortSignal },
    use: (workspace: OpenWorkspace) => Promise<T>,
  ): Promise<T> {
    if (readOnly) {
      const archive = await this.#openCurrent(id);
      return await use({ read: () => this.#readAll(id, archive), save: (folder) => discard(archive, folder) });
    }
    return this.#withLease(id, signal, async (lease) => {
      const archive = await this.#openAt(id, lease.archiveKey);
      return await use({
        read: () => archive?.readAll() ?? emptyArchive(),
        save: (folder) => this.#save(lease, archive, folder),
      });
    });
  }

  async list(id: WorkspaceId): Promise<WorkspaceContent> {
    const { entries } = (await this.#openCurrent(id)) ?? { entries: [] };
    const files = entries.flatMap((entry) => toFile(entry) ?? []);
    return { files, folders: entries.length - files.length };
  }

  async readFile(
    id: WorkspaceId,
    name: string,
    { offset, length }: { offset: number; length: number },
  ): Promise<FilePart | null> {
    for (;;) {
      const archive = await this.#openCurrent(id);
      const entry = archive?.entries.find(([each]) => each === name);
      const file = entry === undefined ? null : toFile(entry);
      if (archive === null || file === null) return null;
      const start = Math.min(offset, file.size);
      const from = (contentOffsets(archive.entries).get(name) ?? 0) + start;
      try {
        return { file, bytes: await archive.readPart(from, Math.min(length, file.size - start)) };
      } catch (error) {
        // A program has replaced the archive since it was opened.
        if (!(error instanceof ObjectMissing)) throw error;
      }
    }
  }

  async clear(id: WorkspaceId, name: string | null): Promise<number | null> {
    const timeout = AbortSignal.timeout(this.#clearWaitMs);
    try {
      return await this.#withLease(id, timeout, (lease) =>
        name === null ? this.#clearAll(lease) : this.#clearPath(lease, name),
      );
    } catch (error) {
      if (error === timeout.reason) throw new WorkspaceInUse("A program uses the workspace", { cause: error });
      throw error;
    }
  }

  async remove(id: WorkspaceId): Promise<void> {
    // A running program cannot save without the row, and removes the archive that it has stored.
    await this.#records.remove(id);
    await this.#objects.removeBucket(bucketOf(id));
  }

  measure(orgId: string): Promise<number> {
    return this.#records.measure(orgId);
  }

  /** Also lists archives without a row, which a crash during a removal leaves. */
  async listAll(): Promise<WorkspaceId[]> {
    const listed = await this.#records.listAll();
    const buckets = new Set(listed.map(bucketOf));
    const others = (await this.#objects.listBuckets()).filter((bucket) => !buckets.has(bucket));
    return [...listed, ...others.flatMap((bucket) => workspaceOf(bucket) ?? [])];
  }

  #withLease<T>(id: WorkspaceId, signal: AbortSignal, use: (lease: WorkspaceLease) => Promise<T>): Promise<T> {
    return this.#locks.run(
      [bucketOf(id)],
      async () => {
        await using lease = await WorkspaceLease.acquire(this.#records, id, signal);
        return await use(lease);
      },
      signal,
    );
  }

  /** Replaces the files by those in `folder`, unless they are the same. */
  async #save(lease: WorkspaceLease, stored: StoredArchive | null, folder: string): Promise<SavedWorkspace> {
    const { entries, omitted, problem } = await scanTree(folder);
    if (problem !== null) return { problem, omitted };
    const archive = await encode(entries, () => readTree(folder, entries));
    const outcome = await this.#replace(lease, stored, archive);
    return { problem: outcome === "done" ? null : NOT_COMMITTED[outcome], omitted };
  }

  /** Also removes an archive that cannot be read. */
  async #clearAll(lease: WorkspaceLease): Promise<number> {
    const stored = await this.#openAt(lease.id, lease.archiveKey).catch(() => null);
    const outcome = lease.archiveKey === null ? "done" : await this.#commit(lease, null);
    if (outcome === "lost") throw new WorkspaceInUse("A program uses the workspace");
    return countFiles(stored?.entries ?? []);
  }

  async #clearPath(lease: WorkspaceLease, name: string): Promise<number | null> {
    const stored = await this.#openAt(lease.id, lease.archiveKey);
    if (stored === null) return null;
    const kept = stored.entries.filter(([each]) => each !== name && !each.startsWith(`${name}/`));
    if (kept.length === stored.entries.length) return null;
    const outcome = await this.#replace(lease, stored, await encode(kept, () => stored.readContents(kept)));
    if (outcome === "lost") throw new WorkspaceInUse("A program uses the workspace");
    return countFiles(stored.entries) - countFiles(kept);
  }

  async #replace(
    lease: WorkspaceLease,
    stored: StoredArchive | null,
    archive: EncodedArchive | null,
  ): Promise<"done" | "lost" | "removed"> {
    const isSame = (archive?.hash ?? null) === (stored?.header.hash ?? null);
    return isSame ? "done" : await this.#commit(lease, archive);
  }

  async #commit(lease: WorkspaceLease, archive: EncodedArchive | null): Promise<"done" | "lost" | "removed"> {
    const bucket = bucketOf(lease.id);
    const key = keyOf(lease.fencingToken);
    if (archive !== null) await this.#objects.put(bucket, key, archive.body, { durable: true });
    const outcome = await lease.commit(archive === null ? null : { key, bytes: archive.bytes });
    if (outcome !== "done") await this.#objects.remove(bucket, key);
    // What remains after a failure is removed after the next change.
    else await this.#removeBefore(bucket, key).catch(() => undefined);
    return outcome;
  }

  /** Removes earlier archives, also those that a crash left. A later one belongs to a program that has got the lease since. */
  async #removeBefore(bucket: string, key: string): Promise<void> {
    for (const other of await this.#objects.list(bucket))
      if (other.key < key) await this.#objects.remove(bucket, other.key);
  }

  /** Opens the archive of the present files, for a caller without a lease. */
  async #openCurrent(id: WorkspaceId): Promise<StoredArchive | null> {
    const bucket = bucketOf(id);
    let key = await this.#records.findArchive(id);
    for (;;) {
      if (key === null) return null;
      const archive = await openArchive({ objects: this.#objects, bucket, key });
      if (archive !== null) return archive;
      const present = await this.#records.findArchive(id);
      if (present === key) return await this.#openAt(id, key);
      // A program has replaced it.
      key = present;
    }
  }

  /**
   * Opens an archive that nobody replaces. A backup has the row before the archives, so after it was restored, the archive of
   * the row may have been replaced by a newer one.
   */
  async #openAt(id: WorkspaceId, key: string | null): Promise<StoredArchive | null> {
    if (key === null) return null;
    const place = { objects: this.#objects, bucket: bucketOf(id) };
    const archive = await openArchive({ ...place, key });
    if (archive !== null) return archive;
    const newest = (await this.#objects.list(place.bucket)).at(-1);
    const newer = newest === undefined ? null : await openArchive({ ...place, key: newest.key });
    if (newer === null) throw new Error("The archive of a workspace is missing");
    return newer;
  }

  async *#readAll(id: WorkspaceId, archive: StoredArchive | null): AsyncIterable<Uint8Array> {
    for (let opened = archive; ; opened = await this.#openCurrent(id))
      try {
        return yield* opened?.readAll() ?? emptyArchive();
      } catch (error) {
        // A program has replaced the archive since it was opened.
        if (!(error instanceof ObjectMissing)) throw error;
      }
  }
}

async function encode(
  entries: readonly ArchiveEntry[],
  contents: () => AsyncIterable<Uint8Array>,
): Promise<EncodedArchive | null> {
  return entries.length === 0 ? null : await encodeArchive(entries, contents);
}

/** What a program reads of a workspace without an archive. */
async function* emptyArchive(): AsyncIterable<Uint8Array> {
  yield formatIndex([]);
}

/** A program may read it, and its changes are not saved. */
async function discard(stored: StoredArchive | null, folder: string): Promise<SavedWorkspace> {
  const { entries } = await scanTree(folder);
  const hasChanged = JSON.stringify(entries) !== JSON.stringify(stored?.entries ?? []);
  return { problem: hasChanged ? READ_ONLY : null, omitted: 0 };
}

function toFile([name, size, modified]: ArchiveEntry): WorkspaceFile | null {
  return size === null ? null : { path: name, size, modifiedAt: new Date(modified) };
}

function countFiles(entries: readonly ArchiveEntry[]): number {
  return entries.filter(([, size]) => size !== null).length;
}
