import type { AddTreeOptions, FileEntry, FileSink } from "../app-files/file-sink.ts";
import type { BackupRepository, StoredContent } from "./backup-repository.ts";
import type { BackupEntry } from "./manifest.ts";
import { readOpenFile, type TreeEntry, type TreePath, walkTree, type WalkOptions } from "../app-files/tree-files.ts";

/** Warnings beyond this number are only counted. */
const MAX_WARNINGS = 100;

/** Collects the entries of one backup, and stores their content. */
export class BackupWriter implements FileSink {
  readonly #repository: BackupRepository;
  readonly #lines: string[] = [];
  readonly #folders = new Set<TreePath>();
  readonly #warnings: string[] = [];
  #omittedWarnings = 0;
  readonly totals = { files: 0, objects: 0, bytes: 0 };

  constructor(repository: BackupRepository) {
    this.#repository = repository;
  }

  /**
   * Adds a folder with its content.
   *
   * @param prefix - its path in the backup
   */
  async addTree(prefix: TreePath, folder: string, { isExcluded, addFile }: AddTreeOptions = {}): Promise<void> {
    const options: WalkOptions = {
      isExcluded: isExcluded ?? (() => false),
      onSkipped: (path) =>
        this.warn(`${prefix}/${path} is not a file, or its path is too long. It is not in the backup.`),
    };
    for await (const entry of walkTree(folder, options)) {
      const isAdded = entry.kind === "file" && addFile !== undefined && (await addFile(entry, entry.path));
      if (!isAdded) await this.#addEntry(`${prefix}/${entry.path}`, entry);
    }
  }

  addFolder(path: TreePath, mode: number): void {
    if (this.#folders.has(path)) return;
    this.#folders.add(path);
    this.#addLine({ kind: "folder", path, mode });
  }

  async addFile(path: TreePath, { mode, modifiedAt, file }: FileEntry): Promise<void> {
    await this.addContent(path, { mode, modifiedAt }, readOpenFile(file));
  }

  async addContent(
    path: TreePath,
    { mode, modifiedAt }: Omit<FileEntry, "file">,
    content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<void> {
    const stored = await this.store(content);
    this.totals.files++;
    this.totals.bytes += stored.size;
    this.#addLine({ kind: "file", path, mode, modified: modifiedAt, ...stored });
  }

  async addObject(bucket: string, key: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const stored = await this.store(content);
    this.totals.objects++;
    this.totals.bytes += stored.size;
    this.#addLine({ kind: "object", bucket, key, ...stored });
  }

  /** Adds an object of the bucket that several edges share, whose content is stored. */
  addSharedObject(key: string, stored: StoredContent): void {
    this.totals.objects++;
    this.totals.bytes += stored.size;
    this.#addLine({ kind: "shared_object", key, ...stored });
  }

  /** Stores content of which it is not known yet whether it belongs to the backup. */
  async store(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<StoredContent> {
    return await this.#repository.add(content);
  }

  /** Reports what the backup does not have, or not in a consistent state. */
  warn(message: string): void {
    if (this.#warnings.length < MAX_WARNINGS) this.#warnings.push(message);
    else this.#omittedWarnings++;
  }

  get warnings(): string[] {
    const omitted = this.#omittedWarnings;
    return omitted === 0 ? this.#warnings : [...this.#warnings, `${omitted} more warnings`];
  }

  /** Stores the list of all entries. */
  async addIndex(): Promise<StoredContent> {
    const lines = this.#lines;
    function* bytes(): Generator<Uint8Array> {
      for (const line of lines) yield Buffer.from(`${line}\n`);
    }
    return await this.#repository.add(bytes());
  }

  async #addEntry(path: TreePath, entry: TreeEntry): Promise<void> {
    if (entry.kind === "folder") this.addFolder(path, entry.mode);
    else if (entry.kind === "file") await this.addFile(path, entry);
    else this.#addLine({ kind: "link", path, target: entry.target });
  }

  #addLine(entry: BackupEntry): void {
    this.#lines.push(JSON.stringify(entry));
  }
}
