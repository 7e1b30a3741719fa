import { PassThrough, pipeline } from "node:stream";
import { createGzip } from "node:zlib";
import { pack } from "tar-stream";

/** The same for all files, so that the same texts have the same id. */
const MODIFIED_AT = new Date(0);

/** Packs texts as a tar archive that is compressed by gzip. */
export function packFiles(files: Readonly<Record<string, string>>): AsyncIterable<Uint8Array> {
  const archive = pack();
  for (const [name, text] of Object.entries(files).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    archive.entry({ name, mtime: MODIFIED_AT, mode: 0o644 }, text);
  archive.finalize();
  const output = new PassThrough();
  // An error reaches the reader through `output`.
  pipeline(archive, createGzip(), output, () => undefined);
  return output;
}
