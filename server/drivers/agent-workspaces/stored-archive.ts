import { ObjectMissing, type ObjectStore } from "../../../domain/ports/object-store.ts";
import {
  type ArchiveEntry,
  type ArchiveHeader,
  contentOffsets,
  HEADER_BYTES,
  parseHeader,
  parseIndex,
} from "./archive-format.ts";

/** What the first request reads: most archives are complete in it. */
const HEAD_BYTES = 256 * 1024;

export interface ArchivePlace {
  objects: ObjectStore;
  bucket: string;
  key: string;
}

/** An archive in the object store. Its index, and the beginning of its contents, are in memory. */
export class StoredArchive {
  readonly header: ArchiveHeader;
  readonly entries: readonly ArchiveEntry[];
  readonly #place: ArchivePlace;
  /** The first bytes of the archive, at least until the end of the index. */
  readonly #head: Buffer;

  /**
   * @throws {ObjectMissing}
   * @throws when the object is not an archive
   */
  static async open(place: ArchivePlace): Promise<StoredArchive> {
    let head = await readRange(place, 0, HEAD_BYTES);
    const header = parseHeader(head.subarray(0, HEADER_BYTES));
    const missing = HEADER_BYTES + header.indexBytes - head.length;
    if (missing > 0) head = Buffer.concat([head, await readRange(place, head.length, missing)]);
    if (head.length < HEADER_BYTES + header.indexBytes) throw incomplete();
    return new StoredArchive(place, head, header);
  }

  private constructor(place: ArchivePlace, head: Buffer, header: ArchiveHeader) {
    this.#place = place;
    this.#head = head;
    this.header = header;
    this.entries = parseIndex(head.subarray(HEADER_BYTES, this.#contentStart));
  }

  /**
   * Reads everything after the header.
   *
   * @throws {ObjectMissing} before anything is read, when the archive has been replaced since it was opened
   */
  async *readAll(): AsyncIterable<Uint8Array> {
    const end = this.#contentStart + this.entries.reduce((sum, [, size]) => sum + (size ?? 0), 0);
    yield* this.#read(HEADER_BYTES, end - HEADER_BYTES);
  }

  /** Reads the contents of some of the files, in the order of the index. Files that follow each other are read at once. */
  async *readContents(selected: readonly ArchiveEntry[]): AsyncIterable<Uint8Array> {
    const offsets = contentOffsets(this.entries);
    let [start, length] = [0, 0];
    for (const [path, size] of selected) {
      if (size === null) continue;
      const offset = offsets.get(path) ?? 0;
      if (offset !== start + length) {
        yield* this.#read(this.#contentStart + start, length);
        [start, length] = [offset, 0];
      }
      length += size;
    }
    yield* this.#read(this.#contentStart + start, length);
  }

  /** Reads a part of the contents of all files. */
  async readPart(offset: number, length: number): Promise<Buffer> {
    return Buffer.concat(await Array.fromAsync(this.#read(this.#contentStart + offset, length)));
  }

  get #contentStart(): number {
    return HEADER_BYTES + this.header.indexBytes;
  }

  async *#read(start: number, length: number): AsyncIterable<Uint8Array> {
    const inHead = this.#head.subarray(start, start + length);
    if (inHead.length === length) {
      if (length > 0) yield inHead;
      return;
    }
    const rest = { offset: start + inHead.length, length: length - inHead.length };
    const { objects, bucket, key } = this.#place;
    let read = 0;
    // Requested first: afterwards, the archive can be read to its end although it is replaced.
    for await (const chunk of objects.read(bucket, key, rest)) {
      if (read === 0 && inHead.length > 0) yield inHead;
      read += chunk.length;
      yield chunk;
    }
    if (read !== rest.length) throw incomplete();
  }
}

async function readRange({ objects, bucket, key }: ArchivePlace, offset: number, length: number): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(objects.read(bucket, key, { offset, length })));
}

function incomplete(): Error {
  return new Error("The archive of a workspace is incomplete");
}

/** Opens an archive, or returns `null` if it does not exist. */
export async function openArchive(place: ArchivePlace): Promise<StoredArchive | null> {
  try {
    return await StoredArchive.open(place);
  } catch (error) {
    if (error instanceof ObjectMissing) return null;
    throw error;
  }
}
