import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { nullIfMissing } from "../../files/missing-file.ts";
import {
  type ArchiveEntry,
  type ArchiveHeader,
  contentOffsets,
  HEADER_BYTES,
  parseHeader,
  parseIndex,
} from "./archive-format.ts";

const CHUNK_BYTES = 256 * 1024;

/** An open archive. It stays readable when the file is replaced meanwhile. */
export class WorkspaceArchiveReader implements AsyncDisposable {
  readonly header: ArchiveHeader;
  readonly #handle: FileHandle;

  /** @returns `null` if the file does not exist */
  static async open(file: string): Promise<WorkspaceArchiveReader | null> {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW).catch(nullIfMissing);
    if (handle === null) return null;
    try {
      return new WorkspaceArchiveReader(handle, parseHeader(await readExactly(handle, 0, HEADER_BYTES)));
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  private constructor(handle: FileHandle, header: ArchiveHeader) {
    this.#handle = handle;
    this.header = header;
  }

  async readIndex(): Promise<ArchiveEntry[]> {
    return parseIndex(await readExactly(this.#handle, HEADER_BYTES, this.header.indexBytes));
  }

  /**
   * Reads everything after the header.
   *
   * @throws when the archive is incomplete, before anything is read
   */
  async *readAll(): AsyncIterable<Uint8Array> {
    const contents = (await this.readIndex()).reduce((sum, [, size]) => sum + (size ?? 0), 0);
    const { size } = await this.#handle.stat();
    if (size !== this.#contentStart + contents) throw new Error("The archive of a workspace is incomplete");
    yield* readChunks(this.#handle, HEADER_BYTES, size - HEADER_BYTES);
  }

  /** Reads the contents of some of the files, in the order of the index. */
  async *readContents(index: readonly ArchiveEntry[], selected: readonly ArchiveEntry[]): AsyncIterable<Uint8Array> {
    const offsets = contentOffsets(index);
    for (const [path, size] of selected)
      if (size !== null) yield* readChunks(this.#handle, this.#contentStart + (offsets.get(path) ?? 0), size);
  }

  /** Reads a part of the contents of all files. */
  readPart(offset: number, length: number): Promise<Buffer> {
    return readExactly(this.#handle, this.#contentStart + offset, length);
  }

  get #contentStart(): number {
    return HEADER_BYTES + this.header.indexBytes;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

async function* readChunks(handle: FileHandle, start: number, length: number): AsyncIterable<Uint8Array> {
  for (let done = 0; done < length; done += CHUNK_BYTES)
    yield await readExactly(handle, start + done, Math.min(CHUNK_BYTES, length - done));
}

async function readExactly(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  for (let done = 0; done < length;) {
    const { bytesRead } = await handle.read(buffer, done, length - done, position + done);
    if (bytesRead === 0) throw new Error("The archive of a workspace is incomplete");
    done += bytesRead;
  }
  return buffer;
}
