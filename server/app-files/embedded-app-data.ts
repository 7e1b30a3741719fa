import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, mkdtemp, open, readdir, rm } from "node:fs/promises";
import path from "node:path";
import type {
  AppData,
  AppDataCopy,
  AppDataFile,
  AppDataLocation,
  CopiedFile,
  RestoredApp,
} from "../../domain/ports/app-data.ts";
import type { AppVariables } from "../../domain/ports/app-variables.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import { KeyedLock } from "../../domain/shared/keyed-lock.ts";
import { namesOwnDatabase } from "../../domain/shared/postgres-variables.ts";
import type { AppPostgres } from "../platforms/embedded/postgres/app-postgres.ts";
import { DUMP_FILE, type DumpFile } from "../platforms/embedded/postgres/dump/dump-file.ts";
import { exportDatabase } from "../platforms/embedded/postgres/dump/export-database.ts";
import { importDatabase } from "../platforms/embedded/postgres/dump/import-database.ts";
import type { SqliteReader } from "../platforms/embedded/app-databases/sqlite-reader.ts";
import type { ScriptVersion } from "../platforms/embedded/script-version.ts";
import type { AppDataFolders } from "../platforms/embedded/storage/data-folders.ts";
import { objectId } from "../platforms/embedded/storage/embedded-app-entries.ts";
import { UNIQUE_KEYS } from "../platforms/embedded/workerd/storage-services.ts";
import { AppFiles } from "./app-files.ts";
import type { AddTreeOptions, FileEntry, FileSink } from "./file-sink.ts";
import { readOpenFile, type TreePath, walkTree } from "./tree-files.ts";

interface EmbeddedAppDataOptions {
  folders: AppDataFolders;
  /** For copies, on the same disk. Only this process uses it. */
  workFolder: string;
  live: (slug: string) => Promise<ScriptVersion | null>;
  sqlite: SqliteReader;
  postgres: AppPostgres;
  variables: AppVariables;
}

const DATABASE = /^database[.]sqlite(-wal|-journal)?$/;
const STORAGE = "storage/";
const POSTGRES = "postgres/";
/** A database of Miniflare that has no rows of the app. */
const METADATA = /(?:^|\/)metadata[.]sqlite/;

/** Copies and restores the data of the apps on this machine. */
export class EmbeddedAppData implements AppData {
  readonly #options: EmbeddedAppDataOptions;
  readonly #locks = new KeyedLock();

  private constructor(options: EmbeddedAppDataOptions) {
    this.#options = options;
  }

  /** Removes the copies that an earlier process has left. */
  static async open(options: EmbeddedAppDataOptions): Promise<EmbeddedAppData> {
    await rm(options.workFolder, { recursive: true, force: true });
    await mkdir(options.workFolder, { recursive: true, mode: 0o700 });
    return new EmbeddedAppData(options);
  }

  async copy({ appId, slug }: AppDataLocation, signal: AbortSignal): Promise<AppDataCopy> {
    const live = await this.#options.live(slug);
    if (live?.appId !== appId)
      throw new ServiceError("conflict", "The app is not live. Deploy it, and export it then.");
    const { runtime } = live.code;
    await using opening = new AsyncDisposableStack();
    const folder = await mkdtemp(path.join(this.#options.workFolder, "copy-"));
    opening.defer(() => rm(folder, { recursive: true, force: true }));
    const copies = path.join(folder, "databases");
    await mkdir(copies, { mode: 0o700 });
    const sink = new FolderSink(path.join(folder, "files"), signal);
    await sink.open();
    const files = new AppFiles({ writer: sink, workFolder: copies, sqlite: this.#options.sqlite, signal });
    const data = path.join(folder, "data");
    await mkdir(data, { mode: 0o700 });
    await using opened = await this.#options.folders.open(live, data, signal);
    const { storage, database, serverData } = opened;
    if (storage !== null) await files.addStorage({ prefix: "storage", folder: storage });
    if (serverData !== null) await files.addDatabases("storage/data", serverData);
    if (database !== null) await files.addDatabases(D1_PREFIX, database);
    await this.#copyPostgres(live, sink, signal);
    await rm(data, { recursive: true, force: true });
    const warnings = [...opened.warnings, ...sink.warnings];
    const copied = opening.move();
    return { runtime, files: sink.files, warnings, [Symbol.asyncDispose]: () => copied.disposeAsync() };
  }

  /** The files belong to the same moment as the database only if the app changes neither. */
  async #copyPostgres(
    { appId, code, databaseId }: ScriptVersion,
    sink: FolderSink,
    signal: AbortSignal,
  ): Promise<void> {
    const { postgres, variables } = this.#options;
    const uses = code.runtime === "node" ? code.server.postgres : undefined;
    if (uses === undefined || namesOwnDatabase(uses.variables, (await variables.read(appId)).values)) return;
    using exporter = await postgres.openExporter(databaseId);
    if (exporter === null) return;
    for await (const { name, content } of exportDatabase(exporter, signal))
      await sink.addContent(`${POSTGRES}${name}`, content);
  }

  async restore(app: RestoredApp, openFiles: () => AsyncIterable<AppDataFile>, signal: AbortSignal): Promise<string[]> {
    // An attempt whose connection was lost may not have noticed it yet.
    return this.#locks.run([app.appId], () => this.#restore(app, openFiles, signal), signal);
  }

  async #restore(
    app: RestoredApp,
    openFiles: () => AsyncIterable<AppDataFile>,
    signal: AbortSignal,
  ): Promise<string[]> {
    await using opening = new AsyncDisposableStack();
    const folder = await mkdtemp(path.join(this.#options.workFolder, "restore-"));
    opening.defer(() => rm(folder, { recursive: true, force: true }));
    for (const name of ["storage", "database", "postgres"]) await mkdir(path.join(folder, name), { mode: 0o700 });
    for await (const file of openFiles()) {
      signal.throwIfAborted();
      await writeNew(path.join(folder, ...targetOf(file.path, app)), file);
    }
    await this.#restorePostgres(app, path.join(folder, "postgres"), signal);
    const folders = { storage: path.join(folder, "storage"), database: path.join(folder, "database") };
    return await this.#options.folders.replace(app, folders, signal);
  }

  async #restorePostgres(
    { databaseId, maxDatabaseBytes: maxBytes }: RestoredApp,
    folder: string,
    signal: AbortSignal,
  ): Promise<void> {
    const names = (await readdir(folder)).toSorted();
    if (names.length === 0) return;
    await this.#options.postgres.replace(databaseId, { maxBytes, signal }, (database, bounded) =>
      importDatabase(database, dumpIn(folder, names), bounded),
    );
  }
}

/** The files of a dump, in the order of their names. */
async function* dumpIn(folder: string, names: readonly string[]): AsyncGenerator<DumpFile> {
  for (const name of names) yield { name, content: createReadStream(path.join(folder, name)) };
}

/** The prefix of the SQL database in the sink, before it gets its name in the copy. */
const D1_PREFIX = "database";

/** Where a file of the data belongs, in the folder that becomes the storage or the database. */
function targetOf(file: string, { databaseId }: AppDataLocation): string[] {
  const suffix = DATABASE.exec(file);
  if (suffix !== null)
    return ["database", UNIQUE_KEYS.sql, `${objectId(UNIQUE_KEYS.sql, databaseId)}.sqlite${suffix[1] ?? ""}`];
  if (file.startsWith(POSTGRES) && DUMP_FILE.test(file.slice(POSTGRES.length))) return file.split("/");
  const isStorage = file.startsWith(STORAGE) && file.split("/").every((name) => !["", ".", ".."].includes(name));
  if (!isStorage) throw new ServiceError("invalid", `file: ${JSON.stringify(file)} is not a path of an app's data.`);
  return file.split("/");
}

async function writeNew(target: string, { content }: AppDataFile): Promise<void> {
  await mkdir(path.dirname(target), { recursive: true, mode: 0o700 });
  // Fails if the file exists, so nothing is replaced and no link is followed.
  await using handle = await open(target, "wx", 0o600);
  for await (const chunk of content()) await handle.writeFile(chunk);
  await handle.sync();
}

/** Keeps copies of files in one folder. */
class FolderSink implements FileSink {
  readonly #folder: string;
  readonly #signal: AbortSignal;
  readonly files: CopiedFile[] = [];
  readonly warnings: string[] = [];

  constructor(folder: string, signal: AbortSignal) {
    this.#folder = folder;
    this.#signal = signal;
  }

  async open(): Promise<void> {
    await mkdir(this.#folder, { mode: 0o700 });
  }

  async addTree(prefix: TreePath, folder: string, { isExcluded, addFile }: AddTreeOptions = {}): Promise<void> {
    const onSkipped = (name: TreePath) => this.warn(`${prefix}/${name} is not a file. It is left out.`);
    for await (const entry of walkTree(folder, { isExcluded: isExcluded ?? (() => false), onSkipped })) {
      this.#signal.throwIfAborted();
      if (entry.kind === "link") onSkipped(entry.path);
      if (entry.kind !== "file") continue;
      if (addFile !== undefined && (await addFile(entry, entry.path))) continue;
      await this.addFile(`${prefix}/${entry.path}`, entry);
    }
  }

  async addFile(name: TreePath, { file }: FileEntry): Promise<void> {
    const target = exportedPath(name);
    if (target === null) return;
    if (target.includes("\uFFFD") || /[\p{Cc}\\]/u.test(target))
      return this.warn(`${JSON.stringify(target)} has characters that an export cannot have. It is left out.`);
    await this.addContent(target, readOpenFile(file));
  }

  async addContent(target: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const copy = path.join(this.#folder, String(this.files.length));
    const hash = createHash("sha256");
    let size = 0;
    await using handle = await open(copy, "wx", 0o600);
    for await (const chunk of content) {
      this.#signal.throwIfAborted();
      hash.update(chunk);
      size += chunk.length;
      await handle.writeFile(chunk);
    }
    this.files.push({ path: target, size, sha256: hash.digest("hex"), content: () => createReadStream(copy) });
  }

  warn(message: string): void {
    if (this.warnings.length < MAX_WARNINGS) this.warnings.push(message);
  }
}

const MAX_WARNINGS = 100;

/** `null` for a file that has nothing of the app. */
function exportedPath(name: TreePath): string | null {
  const text = Buffer.from(name, "latin1").toString("utf8");
  if (!text.startsWith(`${D1_PREFIX}/`)) return text;
  const suffix = /[.]sqlite(-wal|-journal)?$/.exec(text);
  return METADATA.test(text) || suffix === null ? null : `database.sqlite${suffix[1] ?? ""}`;
}
