import { lstat, mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
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
import { isUuid } from "../../../domain/shared/ids.ts";
import { KeyedLock } from "../../../domain/shared/keyed-lock.ts";
import { syncToDisk } from "../../files/durable-files.ts";
import { nullIfMissing } from "../../files/missing-file.ts";
import { type ArchiveEntry, contentOffsets, formatIndex } from "./archive-format.ts";
import { writeArchive } from "./archive-writer.ts";
import { readTree, scanTree } from "./scan-tree.ts";
import { WorkspaceArchiveReader } from "./workspace-archive-reader.ts";

/** The folder for unfinished archives. It is not the id of an organization. */
const DRAFTS = ".drafts";
const READ_ONLY = 'This run can only read them, because its token does not have the scope "everything".';

/** Stores each workspace as one file, `<organization>/<agent>`, for a service on one machine. */
export class FilesystemAgentWorkspaces implements AgentWorkspaces {
  readonly #root: string;
  readonly #drafts: string;
  readonly #clearWaitMs: number;
  readonly #locks = new KeyedLock();
  /** The agents that were deleted while a program of them was running. */
  readonly #removed = new Set<string>();

  /** Opens the store, and removes what a killed process left unfinished. */
  static async open(root: string, { clearWaitMs = 10_000 } = {}): Promise<FilesystemAgentWorkspaces> {
    const drafts = path.join(root, DRAFTS);
    await rm(drafts, { recursive: true, force: true });
    await mkdir(drafts, { recursive: true, mode: 0o700 });
    return new FilesystemAgentWorkspaces(root, drafts, clearWaitMs);
  }

  private constructor(root: string, drafts: string, clearWaitMs: number) {
    this.#root = root;
    this.#drafts = drafts;
    this.#clearWaitMs = clearWaitMs;
  }

  async open<T>(
    id: WorkspaceId,
    { readOnly, signal }: { readOnly: boolean; signal: AbortSignal },
    use: (workspace: OpenWorkspace) => Promise<T>,
  ): Promise<T> {
    const useNow = async (): Promise<T> => {
      await using archive = await WorkspaceArchiveReader.open(this.#fileOf(id));
      return await use({
        read: () => archive?.readAll() ?? emptyArchive(),
        save: (folder) => (readOnly ? discard(archive, folder) : this.#save(id, archive, folder)),
      });
    };
    return readOnly ? useNow() : this.#locks.run([id.agentId], useNow, signal);
  }

  async list(id: WorkspaceId): Promise<WorkspaceContent> {
    await using archive = await WorkspaceArchiveReader.open(this.#fileOf(id));
    const entries = (await archive?.readIndex()) ?? [];
    const files = entries.flatMap((entry) => toFile(entry) ?? []);
    return { files, folders: entries.length - files.length };
  }

  async readFile(
    id: WorkspaceId,
    name: string,
    { offset, length }: { offset: number; length: number },
  ): Promise<FilePart | null> {
    await using archive = await WorkspaceArchiveReader.open(this.#fileOf(id));
    const entries = (await archive?.readIndex()) ?? [];
    const entry = entries.find(([each]) => each === name);
    const file = entry === undefined ? null : toFile(entry);
    if (archive === null || file === null) return null;
    const start = Math.min(offset, file.size);
    const from = (contentOffsets(entries).get(name) ?? 0) + start;
    return { file, bytes: await archive.readPart(from, Math.min(length, file.size - start)) };
  }

  async clear(id: WorkspaceId, name: string | null): Promise<number | null> {
    const timeout = AbortSignal.timeout(this.#clearWaitMs);
    try {
      return await this.#locks.run([id.agentId], () => this.#clearNow(id, name), timeout);
    } catch (error) {
      if (error === timeout.reason) throw new WorkspaceInUse("A program uses the workspace", { cause: error });
      throw error;
    }
  }

  async remove(id: WorkspaceId): Promise<void> {
    this.#removed.add(id.agentId);
    await rm(this.#fileOf(id), { force: true });
    // After the running program, which cannot save any more.
    void this.#locks.run([id.agentId], async () => void this.#removed.delete(id.agentId));
  }

  async measure(orgId: string): Promise<number> {
    const folder = path.join(this.#root, orgId);
    const names = (await readdir(folder).catch(nullIfMissing)) ?? [];
    const stats = await Promise.all(names.map((name) => lstat(path.join(folder, name)).catch(nullIfMissing)));
    return stats.reduce((sum, each) => sum + (each?.size ?? 0), 0);
  }

  async listAll(): Promise<WorkspaceId[]> {
    const orgIds = (await readdir(this.#root)).filter(isUuid);
    const ids = orgIds.map(async (orgId) => {
      const agentIds = await readdir(path.join(this.#root, orgId));
      return agentIds.map((agentId) => ({ orgId, agentId }));
    });
    return (await Promise.all(ids)).flat();
  }

  /** Replaces the archive by the files in `folder`, unless they are the same. */
  async #save(id: WorkspaceId, stored: WorkspaceArchiveReader | null, folder: string): Promise<SavedWorkspace> {
    const { entries, omitted, problem } = await scanTree(folder);
    if (problem !== null) return { problem, omitted };
    if (this.#removed.has(id.agentId)) return { problem: "The agent was deleted.", omitted };
    await this.#write(id, stored, entries, readTree(folder, entries));
    return { problem: null, omitted };
  }

  async #clearNow(id: WorkspaceId, name: string | null): Promise<number | null> {
    if (name === null) return await this.#clearAll(id);
    await using stored = await WorkspaceArchiveReader.open(this.#fileOf(id));
    const entries = (await stored?.readIndex()) ?? [];
    const kept = entries.filter(([each]) => each !== name && !each.startsWith(`${name}/`));
    if (stored === null || kept.length === entries.length) return null;
    await this.#write(id, stored, kept, stored.readContents(entries, kept));
    return countFiles(entries) - countFiles(kept);
  }

  /** Also removes an archive that cannot be read. */
  async #clearAll(id: WorkspaceId): Promise<number> {
    const { files } = await this.list(id).catch(() => ({ files: [] }));
    await removeDurably(this.#fileOf(id));
    return files.length;
  }

  async #write(
    id: WorkspaceId,
    stored: WorkspaceArchiveReader | null,
    entries: readonly ArchiveEntry[],
    contents: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const file = this.#fileOf(id);
    const storedHash = stored?.header.hash ?? null;
    if (entries.length > 0) await writeArchive({ file, drafts: this.#drafts, storedHash }, entries, contents);
    else if (stored !== null) await removeDurably(file);
  }

  #fileOf({ orgId, agentId }: WorkspaceId): string {
    if (!isUuid(orgId) || !isUuid(agentId)) throw new Error("The id of a workspace consists of two UUIDs");
    return path.join(this.#root, orgId, agentId);
  }
}

/** What a program reads of a workspace without an archive. */
async function* emptyArchive(): AsyncIterable<Uint8Array> {
  yield formatIndex([]);
}

/** A program may read it, and its changes are not saved. */
async function discard(stored: WorkspaceArchiveReader | null, folder: string): Promise<SavedWorkspace> {
  const { entries } = await scanTree(folder);
  const before = (await stored?.readIndex()) ?? [];
  const hasChanged = JSON.stringify(entries) !== JSON.stringify(before);
  return { problem: hasChanged ? READ_ONLY : null, omitted: 0 };
}

function toFile([name, size, modified]: ArchiveEntry): WorkspaceFile | null {
  return size === null ? null : { path: name, size, modifiedAt: new Date(modified) };
}

function countFiles(entries: readonly ArchiveEntry[]): number {
  return entries.filter(([, size]) => size !== null).length;
}

async function removeDurably(file: string): Promise<void> {
  await rm(file, { force: true });
  await syncToDisk(path.dirname(file)).catch(nullIfMissing);
}
