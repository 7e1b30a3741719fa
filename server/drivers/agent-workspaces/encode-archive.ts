import { createHash } from "node:crypto";
import { type ArchiveEntry, formatHeader, formatIndex, HEADER_BYTES } from "./archive-format.ts";

/** The contents of a smaller archive are read once and kept in memory. In bytes. */
const MEMORY_BYTES = 1024 * 1024;

export interface EncodedArchive {
  hash: string;
  /** The size of the archive. */
  bytes: number;
  body: Uint8Array | AsyncIterable<Uint8Array>;
}

/**
 * Encodes files as an archive. The header has the hash of everything after it, so the contents of a large archive are read a
 * second time when its body is read, which fails if they have changed.
 *
 * @param contents - returns the content of each file in `entries`, in their order
 */
export async function encodeArchive(
  entries: readonly ArchiveEntry[],
  contents: () => AsyncIterable<Uint8Array>,
): Promise<EncodedArchive> {
  const index = formatIndex(entries);
  const hash = createHash("sha256").update(index);
  let chunks: Uint8Array[] = [];
  let contentBytes = 0;
  for await (const chunk of contents()) {
    hash.update(chunk);
    contentBytes += chunk.length;
    if (contentBytes <= MEMORY_BYTES) chunks.push(chunk);
    else chunks = [];
  }
  const digest = hash.digest("hex");
  const start = Buffer.concat([formatHeader({ hash: digest, indexBytes: index.length }), index]);
  const bytes = start.length + contentBytes;
  const isInMemory = contentBytes <= MEMORY_BYTES;
  const body = isInMemory ? Buffer.concat([start, ...chunks]) : readAgain(start, digest, contents);
  return { hash: digest, bytes, body };
}

async function* readAgain(
  start: Buffer,
  digest: string,
  contents: () => AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const hash = createHash("sha256").update(start.subarray(HEADER_BYTES));
  yield start;
  for await (const chunk of contents()) {
    hash.update(chunk);
    yield chunk;
  }
  if (hash.digest("hex") !== digest) throw new Error("The files of a workspace changed while they were stored");
}
