import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { pack, type Pack } from "tar-stream";
import type { SqliteReader } from "../platforms/embedded/app-databases/sqlite-reader.ts";
import type { FolderArchiver } from "../platforms/embedded/cluster/server-leases/data-snapshots.ts";
import { AppFiles } from "./app-files.ts";
import type { AddTreeOptions, FileEntry, FileSink } from "./file-sink.ts";
import { readOpenFile, type TreeEntry, type TreePath, walkTree } from "./tree-files.ts";

interface SnapshotArchiverOptions {
  sqlite: SqliteReader;
  /** A folder for copies of databases, on the disk of the apps. */
  workFolder: string;
}

/** Packs the data folders of Node servers while the servers run. */
export class SnapshotArchiver implements FolderArchiver {
  readonly #options: SnapshotArchiverOptions;

  constructor(options: SnapshotArchiverOptions) {
    this.#options = options;
  }

  async fingerprint(folder: string): Promise<string> {
    const hash = createHash("sha256");
    let isEmpty = true;
    for await (const entry of walkTree(folder, { isExcluded: () => false, onSkipped: () => undefined })) {
      isEmpty = false;
      hash.update(`${await describe(entry)}\0`);
    }
    return isEmpty ? "" : hash.digest("hex");
  }

  async pack(folder: string, archive: string, signal: AbortSignal): Promise<string[]> {
    const copies = await mkdtemp(path.join(this.#options.workFolder, "databases-"));
    const tar = pack();
    const sink = new TarSink(tar, signal);
    const writing = pipeline(tar, createZstdCompress(), createWriteStream(archive, { flags: "wx" }), { signal });
    // An error reaches the caller at the end.
    writing.catch(() => undefined);
    try {
      const { sqlite } = this.#options;
      const files = new AppFiles({ writer: sink, workFolder: copies, sqlite, isStrict: true, signal });
      await files.addDatabases(".", folder);
      tar.finalize();
      await writing;
    } catch (error) {
      tar.destroy(error as Error);
      throw error;
    } finally {
      await rm(copies, { recursive: true, force: true });
    }
    return sink.warnings;
  }
}

async function describe(entry: TreeEntry): Promise<string> {
  const { path: name, kind, mode } = entry;
  if (kind === "folder") return JSON.stringify([name, mode]);
  if (kind === "link") return JSON.stringify([name, entry.target]);
  const { size, ino, mtimeNs, ctimeNs } = await entry.file.stat({ bigint: true });
  return JSON.stringify([name, mode, `${size} ${ino} ${mtimeNs} ${ctimeNs}`]);
}

const MAX_WARNINGS = 20;
/** The latest time in the header of a tar archive, which has 11 octal digits for the seconds. */
const MAX_TIME_MS = (8 ** 11 - 1) * 1000;

/** Adds files to a tar archive, with their folders and links. */
class TarSink implements FileSink {
  readonly #tar: Pack;
  readonly #signal: AbortSignal;
  readonly warnings: string[] = [];

  constructor(tar: Pack, signal: AbortSignal) {
    this.#tar = tar;
    this.#signal = signal;
  }

  async addTree(prefix: TreePath, folder: string, { isExcluded, addFile }: AddTreeOptions = {}): Promise<void> {
    const onSkipped = (name: TreePath) => this.warn(`${prefix}/${name} is not a file. It is left out.`);
    for await (const entry of walkTree(folder, { isExcluded: isExcluded ?? (() => false), onSkipped })) {
      this.#signal.throwIfAborted();
      if (entry.kind !== "file") this.#addFolderOrLink(`${prefix}/${entry.path}`, entry);
      else if (addFile === undefined || !(await addFile(entry, entry.path)))
        await this.addFile(`${prefix}/${entry.path}`, entry);
    }
  }

  async addFile(path: TreePath, { file, mode, modifiedAt }: FileEntry): Promise<void> {
    const name = this.#decode(path, path);
    if (name === null) return;
    const { size } = await file.stat();
    const mtime = new Date(Math.min(Math.max(modifiedAt, 0), MAX_TIME_MS));
    const entry = this.#tar.entry({ name, size, mode, mtime });
    await pipeline(Readable.from(exactly(readOpenFile(file), size), { objectMode: false }), entry, {
      signal: this.#signal,
    });
  }

  warn(message: string): void {
    if (this.warnings.length < MAX_WARNINGS) this.warnings.push(message);
  }

  #addFolderOrLink(path: TreePath, entry: Exclude<TreeEntry, { kind: "file" }>): void {
    const name = this.#decode(path, path);
    if (name === null) return;
    if (entry.kind === "folder") return void this.#tar.entry({ name, type: "directory", mode: entry.mode });
    const linkname = this.#decode(entry.target, path);
    if (linkname !== null) this.#tar.entry({ name, type: "symlink", linkname, mode: entry.mode });
  }

  /** `null` for a text that is not UTF-8, with which the file at `path` cannot be in an archive. */
  #decode(text: TreePath, path: TreePath): string | null {
    const decoded = Buffer.from(text, "latin1").toString("utf8");
    if (!decoded.includes("\uFFFD")) return decoded;
    this.warn(`${JSON.stringify(path)} has a name that is not UTF-8. It is left out.`);
    return null;
  }
}

/** The first bytes of a file that may change meanwhile: cut, or filled with zeros, to the size that its header has. */
async function* exactly(content: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Uint8Array> {
  let remaining = size;
  for await (const chunk of content) {
    if (remaining === 0) return;
    // The reader uses its buffer again.
    yield Buffer.from(chunk.subarray(0, remaining));
    remaining -= Math.min(remaining, chunk.length);
  }
  for (; remaining > 0; remaining -= Math.min(remaining, ZEROS.length)) yield ZEROS.subarray(0, remaining);
}

const ZEROS = Buffer.alloc(256 * 1024);
