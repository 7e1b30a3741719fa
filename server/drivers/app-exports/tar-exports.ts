import { once } from "node:events";
import { PassThrough, pipeline, Readable } from "node:stream";
import { pipeline as feed } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { extract, pack, type Pack } from "tar-stream";
import type { ExportArchive, ExportMember } from "../../../domain/ports/export-archive.ts";
import { ServiceError } from "../../../domain/shared/errors.ts";

const BLOCK_BYTES = 512;
const MAX_PATH_BYTES = 2000;
/** Exports have many small files, and should not wait for the processor. */
const GZIP_LEVEL = 1;

/** Reads and writes exports as tar archives that are compressed by gzip. */
export class TarExports implements ExportArchive {
  pack(members: Iterable<ExportMember>): AsyncIterable<Uint8Array> {
    const archive = pack();
    const output = new PassThrough();
    // An error reaches the reader through `output`, and the end of the reader ends the members.
    pipeline(archive, createGzip({ level: GZIP_LEVEL }), output, () => undefined);
    addMembers(archive, members).catch((error: unknown) => archive.destroy(error as Error));
    return output;
  }

  async *read(archive: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<ExportMember> {
    const entries = extract();
    const gunzip = createGunzip();
    const meter = limitBytes(maxBytes);
    const fed = feed(Readable.from(archive, { objectMode: false }), gunzip, meter.check, entries).catch(
      (error: unknown) => error,
    );
    const explainFailure = async (error: unknown): Promise<unknown> => {
      if (error instanceof ServiceError) return error;
      entries.destroy(null);
      // An error of the entries can follow from one before them.
      return explain((await fed) ?? error);
    };
    try {
      for await (const entry of entries) {
        const { name, type, size } = entry.header;
        if (type !== "file") throw refused(`${JSON.stringify(name)} is not a regular file.`);
        checkPath(name);
        yield { path: name, size, content: () => readEntry(entry as AsyncIterable<Uint8Array>, explainFailure) };
      }
      if (!meter.hasEnd()) throw refused("the file ends too early. Send the whole file.");
    } catch (error) {
      throw await explainFailure(error);
    } finally {
      entries.destroy(null);
      gunzip.destroy();
    }
  }
}

async function* readEntry(
  entry: AsyncIterable<Uint8Array>,
  explainFailure: (error: unknown) => Promise<unknown>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* entry;
  } catch (error) {
    throw await explainFailure(error);
  }
}

async function addMembers(archive: Pack, members: Iterable<ExportMember>): Promise<void> {
  const closed = once(archive, "close").then(() => {
    throw new Error("the export was not read to its end");
  });
  closed.catch(() => undefined);
  for (const { path, size, content } of members) {
    const entry = archive.entry({ name: path, size, mode: 0o600, mtime: new Date(0) });
    // A reader that ends early destroys the entry at any moment, and an error without a listener would end the process.
    entry.on("error", () => undefined);
    for await (const chunk of content()) {
      // A buffer may be used again for the next chunk.
      if (!entry.write(Buffer.from(chunk))) await Promise.race([once(entry, "drain"), closed]);
    }
    const finished = once(entry, "finish");
    entry.end(null);
    await Promise.race([finished, closed]);
  }
  archive.finalize();
}

function limitBytes(maxBytes: number) {
  let room = maxBytes;
  let end = Buffer.alloc(0);
  async function* check(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of source) {
      room -= chunk.length;
      if (room < 0) throw refused(`it unpacks to more than ${Math.floor(maxBytes / 1024 ** 2)} MiB.`);
      end = Buffer.concat([end, chunk.subarray(-BLOCK_BYTES)]).subarray(-BLOCK_BYTES);
      yield chunk;
    }
  }
  return { check, hasEnd: () => end.length === BLOCK_BYTES && end.every((byte) => byte === 0) };
}

/** @throws {ServiceError} for a path that could lead out of a folder, or that a file cannot have */
function checkPath(path: string): void {
  const isSafe =
    Buffer.byteLength(path) <= MAX_PATH_BYTES &&
    !/[\p{Cc}\uFFFD\\]/u.test(path) &&
    path.split("/").every((name) => name !== "" && name !== "." && name !== ".." && Buffer.byteLength(name) <= 254);
  if (!isSafe) throw refused(`${JSON.stringify(path.slice(0, 200))} is not a safe path.`);
}

function explain(error: unknown): unknown {
  if (error instanceof ServiceError || !(error instanceof Error)) return error;
  const { code = "", message } = error as NodeJS.ErrnoException;
  if (code === "Z_BUF_ERROR" || /unexpected end|incomplete/i.test(message))
    return refused("the file ends too early. Send the whole file.");
  if (code.startsWith("Z_")) return refused("it is not compressed by gzip, or is damaged.");
  if (/header/i.test(message)) return refused("it is not a tar archive, or is damaged.");
  return error;
}

function refused(problem: string): ServiceError {
  return new ServiceError("invalid", `file: ${problem}`);
}
