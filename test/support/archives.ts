import { buffer } from "node:stream/consumers";
import { type Header, pack } from "tar-stream";

/** An entry of a tar archive: a file with a text, or anything else. */
export type GivenEntry = Partial<Header> & Pick<Header, "name"> & { text?: string | Uint8Array };

/** Packs entries as they are given, also such that no program would pack. */
export async function tarOf(entries: readonly GivenEntry[]): Promise<Buffer> {
  const archive = pack();
  for (const { text = "", ...header } of entries) archive.entry({ mtime: new Date(0), ...header }, text);
  archive.finalize();
  return Buffer.from(await buffer(archive));
}

/** Packs text files. */
export function tarOfFiles(files: Readonly<Record<string, string>>): Promise<Buffer> {
  return tarOf(Object.entries(files).map(([name, text]) => ({ name, text })));
}

/** The bytes in chunks, as they arrive over a network. */
export async function* inChunks(bytes: Uint8Array, chunkBytes = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += chunkBytes) yield bytes.subarray(at, at + chunkBytes);
}
