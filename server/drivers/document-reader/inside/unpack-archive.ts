// Runs in the sandbox. Unpacks the zip archive /opt/document and writes an `UnpackReport` as JSON, a line break, and the bytes of all files one
// after the other to the standard output. Usage: unpack-archive.ts <UnpackLimits as JSON>
import { readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { type Entry, fromBufferPromise, getFileNameLowLevel, type ZipFile } from "yauzl";
import type { UnpackedFile, UnpackLimits, UnpackReport } from "./report.ts";

/** The bit of an entry which says that its name is UTF-8. Tools that do not set it mostly write UTF-8 too. */
const UTF8_NAME = 0x800;

/** The types of files that Unix stores in the upper half of the external attributes. Other systems store zero. */
const FILE_TYPE = 0xf000;
const TYPES = { none: 0, folder: 0x4000, file: 0x8000 };

const limits = JSON.parse(process.argv[2] ?? "{}") as UnpackLimits;
const contents: Buffer[] = [];
let room = limits.unpackedBytes;

async function unpack(): Promise<UnpackReport> {
  const options = { decodeStrings: false, validateEntrySizes: false };
  const zip = await fromBufferPromise(readFileSync("/opt/document"), options).catch(() => null);
  if (zip === null) return { outcome: "refused", reason: "not-zip" };
  if (zip.entryCount > limits.entries) return { outcome: "refused", reason: "too-many-files" };
  const files: UnpackedFile[] = [];
  const paths = new Set<string>();
  for await (const entry of zip.eachEntry()) {
    const path = getFileNameLowLevel(UTF8_NAME, entry.fileNameRaw, entry.extraFields, true);
    const type = (entry.externalFileAttributes >>> 16) & FILE_TYPE;
    if (path.endsWith("/") || type === TYPES.folder) continue;
    const isFile = type === TYPES.file || type === TYPES.none;
    const problem = paths.has(path)
      ? "is twice in the archive."
      : isFile
        ? findProblem(entry, path)
        : "is a link or a device.";
    paths.add(path);
    files.push(problem === null ? await readEntry(zip, entry, path) : { path, size: 0, problem });
    if (room < 0) return { outcome: "refused", reason: "unpacks" };
  }
  return { outcome: "unpacked", files };
}

/** Returns why a file is not unpacked; `null` for one that is. */
function findProblem(entry: Entry, path: string): string | null {
  const extension = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase();
  if (extension !== undefined && !limits.extensions.includes(extension))
    return `has the type .${extension.slice(0, 20)}, which is not read.`;
  if (entry.isEncrypted()) return "is protected by a password.";
  return entry.canDecodeFileData() ? null : "has a compression method that is not read. Use deflate.";
}

async function readEntry(zip: ZipFile, entry: Entry, path: string): Promise<UnpackedFile> {
  const mayHave = Math.max(limits.ratioBytes, entry.compressedSize * limits.ratio);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    const stream = await zip.openReadStreamPromise(entry);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > limits.fileBytes) return { path, size: 0, problem: "is too large. Split it into several files." };
      if (size > mayHave) return { path, size: 0, problem: "unpacks to too much data." };
    }
  } catch {
    return { path, size: 0, problem: "is damaged." };
  }
  const content = Buffer.concat(chunks);
  if (crc32(content) !== entry.crc32) return { path, size: 0, problem: "is damaged: its checksum is wrong." };
  room -= size;
  if (room >= 0) contents.push(content);
  return { path, size, problem: null };
}

const report = await unpack().catch((): UnpackReport => ({ outcome: "refused", reason: "damaged" }));
const output = [Buffer.from(`${JSON.stringify(report)}\n`), ...(report.outcome === "unpacked" ? contents : [])];
process.stdout.write(Buffer.concat(output), () => process.exit(0));
