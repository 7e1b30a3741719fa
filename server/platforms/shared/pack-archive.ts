import { Readable } from "node:stream";
import { pack, type Pack } from "tar-stream";

/** Packs a tar archive, which is written as fast as it is read. An error of `add` is one of the archive. */
export function packArchive(add: (archive: Pack) => Promise<void>): Readable {
  const archive = pack();
  add(archive).then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error as Error),
  );
  return Readable.from(archive as AsyncIterable<Uint8Array>, { objectMode: false });
}
