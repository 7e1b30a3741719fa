// Runs in the sandbox. Reads a tar archive, checks every entry, and writes it below the folder, if one is given. Prints an `ArchiveReport`
// as JSON. Usage: read-archive.ts <ArchiveLimits as JSON> <archive> [folder]
import { createReadStream } from "node:fs";
import { mkdir, open, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { extract, type Extract } from "tar-stream";
import { type ArchiveLimits, type ArchiveReport, Refusal } from "./archive-report.ts";
import { ArchiveTree, type TreeEntry } from "./archive-tree.ts";

const BLOCK_BYTES = 512;
/** What an entry may have beside its content: its header, a long path, the end of its last block. */
const ENTRY_BYTES = 4 * BLOCK_BYTES;
const OWNER_EXECUTES = 0o100;

const [, , limitsJson = "{}", archive = "", folder = null] = process.argv;
const limits = JSON.parse(limitsJson) as ArchiveLimits;
let hasEnd = false;
/** Why the archive could not be read. An error of an entry can follow from it. */
let failure: Error | null = null;

async function readArchive(): Promise<ArchiveReport> {
  const tree = new ArchiveTree(limits);
  const entries = extract();
  entries.on("error", (error) => void (failure ??= error));
  // An error of the source ends the loop too.
  feed(entries).catch((error: unknown) => entries.destroy(error as Error));
  for await (const entry of entries) await readEntry(tree, entry);
  // Without it, the rest of the archive may be missing.
  if (!hasEnd) throw new Refusal(tree.fileCount === 0 ? "not-tar" : "incomplete");
  if (tree.fileCount === 0) throw new Refusal("empty");
  const { fileCount, bytes, leftOut } = tree;
  return { outcome: "done", fileCount, bytes, leftOut };
}

async function feed(entries: Extract): Promise<void> {
  for await (const chunk of meter(await openTar()))
    if (!entries.write(chunk)) await new Promise<void>((resolve) => entries.once("drain", () => resolve()));
  entries.end(null);
}

/** Returns the tar archive without its compression, which its first bytes tell. */
async function openTar(): Promise<Readable> {
  const start = Buffer.alloc(BLOCK_BYTES);
  await using file = await open(archive);
  const { bytesRead } = await file.read(start, 0, BLOCK_BYTES, 0);
  const first = start.subarray(0, bytesRead);
  const source = createReadStream(archive);
  if (first.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b]))) return decompress(source, createGunzip());
  if (first.subarray(0, 4).equals(Buffer.from([0x28, 0xb5, 0x2f, 0xfd])))
    return decompress(source, createZstdDecompress());
  if (first.subarray(0, 4).equals(Buffer.from("PK\u0003\u0004"))) throw new Refusal("zip");
  if (bytesRead < BLOCK_BYTES) throw new Refusal(bytesRead === 0 ? "empty" : "not-tar");
  return source;
}

function decompress(source: Readable, decompressor: ReturnType<typeof createGunzip>): Readable {
  source.on("error", (error) => decompressor.destroy(error));
  return source.pipe(decompressor);
}

/** Stops an archive that unpacks to more than its entries can have, and finds out whether it ends with an empty block. */
async function* meter(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let room = limits.totalBytes + limits.files * ENTRY_BYTES;
  let end = Buffer.alloc(0);
  for await (const chunk of source) {
    room -= chunk.length;
    if (room < 0) throw new Refusal("unpacks");
    end = Buffer.from(chunk.length >= BLOCK_BYTES ? chunk.subarray(-BLOCK_BYTES) : joinEnds(end, chunk));
    yield chunk;
  }
  hasEnd = end.length === BLOCK_BYTES && end.every((byte) => byte === 0);
}

function joinEnds(end: Buffer, chunk: Buffer): Buffer {
  return Buffer.concat([end, chunk]).subarray(-BLOCK_BYTES);
}

type Entry = Extract extends AsyncIterable<infer E> ? E : never;

async function readEntry(tree: ArchiveTree, entry: Entry): Promise<void> {
  const accepted = tree.add(entry.header);
  if (folder !== null && accepted.kind !== "left-out") return writeEntry(join(folder, accepted.path), accepted, entry);
  entry.resume();
}

async function writeEntry(path: string, accepted: Exclude<TreeEntry, { kind: "left-out" }>, entry: Entry) {
  if (accepted.kind === "file") {
    await mkdir(dirname(path), { recursive: true });
    const mode = ((entry.header.mode ?? 0) & OWNER_EXECUTES) === 0 ? 0o644 : 0o755;
    // Fails if anything has this path, so no link is followed.
    await using file = await open(path, "wx", mode);
    for await (const chunk of entry as AsyncIterable<Buffer>) await file.writeFile(chunk);
    return;
  }
  if (accepted.kind === "link") {
    await mkdir(dirname(path), { recursive: true });
    await symlink(accepted.target, path);
  } else await mkdir(path, { recursive: true });
  entry.resume();
}

function toReport(error: unknown): ArchiveReport {
  if (error instanceof Refusal) return { outcome: "refused", reason: error.reason, entry: error.entry };
  const { code, message } = error as NodeJS.ErrnoException;
  // Of zlib, and of tar-stream.
  if (code === "Z_BUF_ERROR" || /unexpected end|incomplete/i.test(message))
    return { outcome: "refused", reason: "incomplete", entry: null };
  // An extended header, which contains paths.
  if (/header exceeds max size/i.test(message)) return { outcome: "refused", reason: "pathBytes", entry: null };
  if (/^(Z_|ZSTD)/.test(code ?? "") || /invalid header/i.test(message))
    return { outcome: "refused", reason: "damaged", entry: null };
  if (/invalid tar header/i.test(message)) return { outcome: "refused", reason: "not-tar", entry: null };
  throw error;
}

const report = await readArchive().catch((error: unknown) => toReport(failure ?? error));
process.stdout.write(JSON.stringify(report), () => process.exit(0));
