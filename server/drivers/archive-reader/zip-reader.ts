import { crc32 } from "node:zlib";
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from "yauzl";
import type { ArchivedFiles, ArchiveReader } from "../../../domain/ports/archive-reader.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";

/** Of files, folders and what is left out, in one archive. */
const MAX_ENTRIES = 1000;

/** The bit of an entry which says that its name is UTF-8. Tools that do not set it mostly write UTF-8 too. */
const UTF8_NAME = 0x800;

/** The types of files that Unix stores in the upper half of the external attributes. Other systems store zero. */
const FILE_TYPE = 0xf000;
const TYPES = { none: 0, folder: 0x4000, file: 0x8000 };

export class ZipReader implements ArchiveReader {
  async readZip(archive: Uint8Array, files: ArchivedFiles): Promise<void> {
    try {
      const zip = await fromBufferPromise(Buffer.from(archive), { decodeStrings: false });
      if (zip.entryCount > MAX_ENTRIES) throw invalid(`has more than ${MAX_ENTRIES} entries.`);
      for await (const entry of zip.eachEntry()) await readEntry(zip, entry, files);
    } catch (error) {
      if (error instanceof ServiceError) throw error;
      throw invalid("is not a zip file, or it is damaged.", { cause: error });
    }
  }
}

async function readEntry(zip: ZipFile, entry: Entry, files: ArchivedFiles): Promise<void> {
  const path = getFileNameLowLevel(UTF8_NAME, entry.fileNameRaw, entry.extraFields, true);
  if (isAddedByMacOs(path)) return;
  const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE;
  if (path.endsWith("/") || type === TYPES.folder) return files.checkFolder(path.replace(/\/$/, ""));
  files.reserve(path);
  if (type !== TYPES.file && type !== TYPES.none)
    throw invalidEntry(path, "is a link or a device. Only files and folders are allowed");
  if (entry.isEncrypted()) throw invalidEntry(path, "is encrypted. Create the archive without a password");
  if (!entry.canDecodeFileData()) throw invalidEntry(path, "has an unsupported compression method. Use deflate");
  const content = await readContent(zip, entry, files.remainingBytes);
  // One file too large is added too, so that the error is the same wherever the files come from.
  files.add(path, content);
  if (crc32(content) !== entry.crc32) throw invalidEntry(path, "is damaged: its checksum is wrong");
}

/** Stops after more than `maxBytes`. */
async function readContent(zip: ZipFile, entry: Entry, maxBytes: number): Promise<Uint8Array> {
  const stream = await zip.openReadStreamPromise(entry);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) break;
  }
  return Buffer.concat(chunks);
}

function isAddedByMacOs(path: string): boolean {
  return path.startsWith("__MACOSX/") || path.split("/").at(-1) === ".DS_Store";
}

function invalidEntry(path: string, problem: string): ServiceError {
  return invalid(`cannot be read: ${JSON.stringify(path)} ${problem}.`);
}

function invalid(problem: string, options?: ErrorOptions): ServiceError {
  return new ServiceError("invalid", `archive: ${problem}`, options);
}
