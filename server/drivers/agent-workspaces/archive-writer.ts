import { createHash, randomUUID } from "node:crypto";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { syncToDisk } from "../../files/durable-files.ts";
import { type ArchiveEntry, formatHeader, formatIndex, HEADER_BYTES } from "./archive-format.ts";

/** A smaller archive is compared with the stored one before it is written to disk. In bytes. */
const MEMORY_BYTES = 1024 * 1024;

export interface ArchiveTarget {
  /** The archive. */
  file: string;
  /** An existing folder for unfinished archives, in the same file system. */
  drafts: string;
  /** The hash of the stored archive, which is kept if the new one has the same; `null` for none. */
  storedHash: string | null;
}

/**
 * Replaces an archive. The file is replaced atomically, and is on disk when the call returns.
 *
 * @param contents - the content of each file in `entries`, in their order
 * @returns whether the archive has changed
 */
export async function writeArchive(
  { file, drafts, storedHash }: ArchiveTarget,
  entries: readonly ArchiveEntry[],
  contents: AsyncIterable<Uint8Array>,
): Promise<boolean> {
  await using draft = new Draft(path.join(drafts, randomUUID()));
  const index = formatIndex(entries);
  await draft.add(index);
  for await (const chunk of contents) await draft.add(chunk);
  const hash = draft.digest();
  if (hash === storedHash) return false;
  await draft.finish(formatHeader({ hash, indexBytes: index.length }));
  const folder = path.dirname(file);
  if (storedHash === null) await mkdir(folder, { recursive: true, mode: 0o700 });
  await draft.moveTo(file);
  await syncToDisk(folder);
  return true;
}

/** An archive that is being written: in memory, or in a file if it is large. Disposing removes the file. */
class Draft implements AsyncDisposable {
  readonly #file: string;
  readonly #hash = createHash("sha256");
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #handle: FileHandle | null = null;
  #isMoved = false;

  constructor(file: string) {
    this.#file = file;
  }

  async add(chunk: Uint8Array): Promise<void> {
    this.#hash.update(chunk);
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes <= MEMORY_BYTES) return;
    // The header is known last.
    if (this.#handle === null) this.#chunks.unshift(Buffer.alloc(HEADER_BYTES));
    await this.#flush();
  }

  digest(): string {
    return this.#hash.digest("hex");
  }

  /** Writes the file to disk. */
  async finish(header: Buffer): Promise<void> {
    if (this.#handle === null) this.#chunks.unshift(header);
    else await this.#handle.write(header, 0, header.length, 0);
    const handle = await this.#flush();
    await handle.sync();
  }

  async moveTo(file: string): Promise<void> {
    await rename(this.#file, file);
    this.#isMoved = true;
  }

  async #flush(): Promise<FileHandle> {
    this.#handle ??= await open(this.#file, "wx", 0o600);
    await this.#handle.writeFile(Buffer.concat(this.#chunks));
    this.#chunks = [];
    this.#bytes = 0;
    return this.#handle;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle?.close();
    if (this.#handle !== null && !this.#isMoved) await rm(this.#file, { force: true });
  }
}
