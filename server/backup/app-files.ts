import { open, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { ServiceError } from "../../domain/shared/errors.ts";
import { nullIfMissing } from "../files/missing-file.ts";
import { copyDatabase } from "../platforms/embedded/app-databases/copy-database.ts";
import type { BackupWriter, FileEntry } from "./backup-writer.ts";
import type { TreePath } from "./tree-files.ts";

/** How a SQLite database begins (https://www.sqlite.org/fileformat2.html). */
const MAGIC = Buffer.from("SQLite format 3\0");
/** What SQLite keeps beside a database. The copy of the database has what is needed of it. */
const SIDE_FILE = /^(.+)-(?:wal|shm|journal)$/;
/** Values of Miniflare's key-value namespaces and object buckets. A file is written once, and named by a row of a database. */
const BLOB = /^(?:kv|r2)\/.+\/blobs\//;

export interface AppFilesOptions {
  writer: BackupWriter;
  /** An empty folder for copies of databases, on the disk of the data folder. */
  workFolder: string;
  signal: AbortSignal;
}

/** A folder that an app writes to. */
interface AppFolder {
  /** Its path in the backup. */
  prefix: TreePath;
  folder: string;
}

/**
 * Adds what apps store while they run. SQLite files are untrusted, so they are copied and not opened: each copy is as after a
 * crash at one moment, and SQLite recovers it when the app opens it.
 */
export class AppFiles {
  readonly #options: AppFilesOptions;
  #copies = 0;

  constructor(options: AppFilesOptions) {
    this.#options = options;
  }

  /** Adds the scripts of all apps, and what the apps store beside them. */
  async addScripts(prefix: TreePath, folder: string): Promise<void> {
    const { writer } = this.#options;
    const isStorage = (file: TreePath) => /^[^/]+\/[^/]+\/storage\/./.test(file);
    await writer.addTree(prefix, folder, { isExcluded: isStorage });
    for (const slug of (await readdir(folder).catch(nullIfMissing)) ?? [])
      for (const app of (await readdir(path.join(folder, slug), { withFileTypes: true }).catch(nullIfMissing)) ?? []) {
        const name = `${slug}/${app.name}/storage`;
        if (app.isDirectory()) await this.#addStorage({ prefix: `${prefix}/${name}`, folder: path.join(folder, name) });
      }
  }

  /** Adds a folder with databases. */
  async addDatabases(prefix: TreePath, folder: string): Promise<void> {
    await this.#addAll({ prefix, folder }, () => false);
  }

  /**
   * The values of a store are files that rows of its database name. They are added before and after the database: the first
   * time those that may be removed meanwhile, the second time those that were added meanwhile.
   */
  async #addStorage(storage: AppFolder): Promise<void> {
    const blobs = new Set<TreePath>();
    await this.#addBlobs(storage, blobs);
    await this.#addAll(storage, (file) => BLOB.test(file));
    await this.#addBlobs(storage, blobs);
  }

  async #addBlobs({ prefix, folder }: AppFolder, added: Set<TreePath>): Promise<void> {
    const { writer } = this.#options;
    await writer.addTree(prefix, folder, {
      isExcluded: (file) => added.has(file) || !/^(?:kv|r2)(?:\/|$)/.test(file),
      addFile: async (entry, file) => {
        if (!BLOB.test(file)) return true;
        added.add(file);
        await writer.addFile(`${prefix}/${file}`, entry);
        return true;
      },
    });
  }

  async #addAll(tree: AppFolder, isAdded: (file: TreePath) => boolean): Promise<void> {
    const databases = new Set<TreePath>();
    await this.#options.writer.addTree(tree.prefix, tree.folder, {
      isExcluded: isAdded,
      addFile: async (entry, file) => {
        if (databases.has(SIDE_FILE.exec(file)?.[1] ?? "")) return true;
        if (!(await isDatabase(entry))) return false;
        databases.add(file);
        return await this.#addDatabase(tree, file, entry);
      },
    });
  }

  /** Returns `false` if the database cannot be copied in a consistent state. */
  async #addDatabase({ prefix, folder }: AppFolder, file: TreePath, entry: FileEntry): Promise<boolean> {
    const { workFolder, writer, signal } = this.#options;
    const name = Buffer.from(file, "latin1").toString("utf8");
    const copy = path.join(workFolder, String(this.#copies++));
    try {
      await copyDatabase({ folder, name }, copy, signal);
      for (const suffix of ["", "-wal", "-journal"])
        await this.#addCopy(copy + suffix, `${prefix}/${file}${suffix}`, entry);
      return true;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      writer.warn(`${prefix}/${file} may be inconsistent, because it was copied while it changed. ${error.message}`);
      return false;
    } finally {
      for (const suffix of ["", "-wal", "-journal"]) await rm(copy + suffix, { force: true });
    }
  }

  async #addCopy(copy: string, target: TreePath, { mode, modifiedAt }: FileEntry): Promise<void> {
    await using file = await open(copy, "r").catch(nullIfMissing);
    if (file !== null) await this.#options.writer.addFile(target, { mode, modifiedAt, file });
  }
}

async function isDatabase({ file }: FileEntry): Promise<boolean> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0);
  return bytesRead === MAGIC.length && buffer.equals(MAGIC);
}
