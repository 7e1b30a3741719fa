import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { ServiceError } from "../../domain/shared/errors.ts";
import { nullIfMissing } from "../files/missing-file.ts";
import { copyDatabase } from "../platforms/embedded/app-databases/copy-database.ts";
import { isSqlite } from "../platforms/embedded/app-databases/find-sqlite-files.ts";
import { openBeneath } from "../platforms/embedded/app-databases/open-beneath.ts";
import type { SqliteReader } from "../platforms/embedded/app-databases/sqlite-reader.ts";
import type { FileEntry, FileSink } from "./file-sink.ts";
import { copyStore, type StoreKind } from "./copy-store.ts";
import { readOpenFile, type TreePath, walkTree } from "./tree-files.ts";

/** What SQLite keeps beside a database. The copy of the database has what is needed of it. */
const SIDE_FILE = /^(.+)-(?:wal|shm|journal)$/;
/** What may belong to a database or its copy. */
const SUFFIXES = ["", "-wal", "-journal"];
/** Values in the folder of a store of Miniflare, and the databases that name them. */
const VALUE = /^[^/]+\/blobs\/./;
const STORE_DATABASE = /^miniflare-(?:KVNamespace|R2Bucket)Object\/[0-9a-f]+[.]sqlite$/;
const COPY_LIMITS = { maxBytes: Infinity, patienceMs: 20_000 };
const SPARSE_BYTES = 64 * 1024 ** 2;

export interface AppFilesOptions {
  writer: FileSink;
  /** An empty folder for copies of databases, on the disk of the data folder. */
  workFolder: string;
  /** Reads copies of databases in the sandbox. */
  sqlite: SqliteReader;
  /** Whether a database that is never in a consistent state is an error. By default it is copied with a warning. */
  isStrict?: boolean;
  signal: AbortSignal;
}

/** A folder that an app writes to. */
interface AppFolder {
  /** Its path in the backup. */
  prefix: TreePath;
  folder: string;
}

/**
 * Adds what apps store while they run. SQLite files are untrusted, so they are copied, and opened only in the sandbox: each
 * copy is as after a crash at one moment, and SQLite recovers it when the app opens it.
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
        if (app.isDirectory()) await this.addStorage({ prefix: `${prefix}/${name}`, folder: path.join(folder, name) });
      }
  }

  /** Adds a folder with databases. */
  async addDatabases(prefix: TreePath, folder: string): Promise<void> {
    await this.#addAll({ prefix, folder }, () => false);
  }

  /** Adds what one app stores beside its script. */
  async addStorage({ prefix, folder }: AppFolder): Promise<void> {
    await this.#addAll({ prefix, folder }, (file) => /^(?:kv|r2)\/./.test(file));
    for (const kind of ["kv", "r2"] as const)
      await this.#addStore(kind, { prefix: `${prefix}/${kind}`, folder: path.join(folder, kind) });
  }

  /** Adds key-value namespaces or object buckets of a Worker. */
  async #addStore(kind: StoreKind, store: AppFolder): Promise<void> {
    const { workFolder, sqlite, writer, signal } = this.#options;
    const links = path.join(workFolder, `values-${this.#copies++}`);
    await mkdir(links, { mode: 0o700 });
    let copies: DatabaseCopy[] = [];
    const copyDatabases = async () => {
      await removeCopies(copies);
      copies = await this.#copyDatabases(store);
      return copies.filter(({ file }) => STORE_DATABASE.test(file)).map(({ name }) => ({ folder: workFolder, name }));
    };
    try {
      const { values, isComplete } = await copyStore(kind, store.folder, { sqlite, links, copyDatabases, signal });
      if (!isComplete) writer.warn(`${store.prefix} changed all the time. Values of the last changes may be missing.`);
      const byFile = new Map(copies.map((copy) => [copy.file, copy]));
      await writer.addTree(store.prefix, store.folder, {
        isExcluded: (file) => VALUE.test(file),
        addFile: async (entry, file) => {
          const copy = byFile.get(file);
          if (copy !== undefined) await this.#addCopies(copy, `${store.prefix}/${file}`, entry);
          return copy !== undefined || byFile.has(SIDE_FILE.exec(file)?.[1] ?? "");
        },
      });
      for (const [id, file] of values) await this.#addCopy(path.join(links, id), `${store.prefix}/${file}`);
    } finally {
      await removeCopies(copies);
      await rm(links, { recursive: true, force: true });
    }
  }

  async #copyDatabases({ prefix, folder }: AppFolder): Promise<DatabaseCopy[]> {
    const copies: DatabaseCopy[] = [];
    const options = { isExcluded: (file: TreePath) => VALUE.test(file), onSkipped: () => undefined };
    for await (const entry of walkTree(folder, options))
      if (entry.kind === "file" && (await isSqlite(entry.file)))
        copies.push(await this.#copyDatabase({ prefix, folder }, entry.path, entry));
    return copies;
  }

  async #addAll(tree: AppFolder, isAdded: (file: TreePath) => boolean): Promise<void> {
    const databases = new Set<TreePath>();
    await this.#options.writer.addTree(tree.prefix, tree.folder, {
      isExcluded: isAdded,
      addFile: async (entry, file) => {
        if (databases.has(SIDE_FILE.exec(file)?.[1] ?? "")) return true;
        if (await isSparse(entry)) {
          this.#options.writer.warn(`${tree.prefix}/${file} is sparse. It is left out.`);
          return true;
        }
        if (!(await isSqlite(entry.file))) return false;
        databases.add(file);
        await this.#addDatabase(tree, file, entry);
        return true;
      },
    });
  }

  async #addDatabase(tree: AppFolder, file: TreePath, entry: FileEntry): Promise<void> {
    const copy = await this.#copyDatabase(tree, file, entry);
    try {
      await this.#addCopies(copy, `${tree.prefix}/${file}`, entry);
    } finally {
      await removeCopies([copy]);
    }
  }

  /** Copies a database, also if it is never in a consistent state. */
  async #copyDatabase(
    { prefix, folder }: AppFolder,
    file: TreePath,
    { file: opened }: FileEntry,
  ): Promise<DatabaseCopy> {
    const { workFolder, writer, isStrict = false, signal } = this.#options;
    const name = `database-${this.#copies++}`;
    const copy = path.join(workFolder, name);
    const location = { folder, name: Buffer.from(file, "latin1").toString("utf8") };
    try {
      await copyDatabase(location, copy, signal, COPY_LIMITS);
    } catch (error) {
      if (!(error instanceof ServiceError) || isStrict) throw error;
      writer.warn(`${prefix}/${file} may be inconsistent, because it was copied while it changed. ${error.message}`);
      for (const suffix of SUFFIXES) await rm(copy + suffix, { force: true });
      await writeFile(copy, readOpenFile(opened));
    }
    return { file, name, copy };
  }

  async #addCopies({ copy }: DatabaseCopy, target: TreePath, entry: FileEntry): Promise<void> {
    for (const suffix of SUFFIXES) await this.#addCopy(copy + suffix, target + suffix, entry);
  }

  /** Adds a file under another path, unless it does not exist. */
  async #addCopy(copy: string, target: TreePath, entry?: FileEntry): Promise<void> {
    await using file = await openBeneath(path.dirname(copy), path.basename(copy));
    if (file === null) return;
    const stats = await file.stat();
    const { mode, modifiedAt } = entry ?? { mode: stats.mode & 0o777, modifiedAt: Math.floor(stats.mtimeMs) };
    await this.#options.writer.addFile(target, { mode, modifiedAt, file });
  }
}

/** A copy of a database in the work folder. */
interface DatabaseCopy {
  /** The path of the database in the folder of the app. */
  file: TreePath;
  name: string;
  copy: string;
}

async function removeCopies(copies: readonly DatabaseCopy[]): Promise<void> {
  for (const { copy } of copies) for (const suffix of SUFFIXES) await rm(copy + suffix, { force: true });
}

/** Whether a file has much less on the disk than its size. An app can create one of a million gigabytes. */
async function isSparse({ file }: FileEntry): Promise<boolean> {
  const { size, blocks } = await file.stat();
  return size > SPARSE_BYTES && blocks * 512 < size / 2;
}
