import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { extract, type Pack } from "tar-stream";
import { z } from "zod";
import type { AppDataCopy, AppDataFile, CopiedFile } from "../../../domain/ports/app-data.ts";
import { RUNTIMES } from "../../../domain/ports/bundler.ts";
import { parseJson } from "../../../domain/shared/json.ts";
import { readBody } from "../../http/read-body.ts";
import { packArchive } from "../shared/pack-archive.ts";

const DESCRIPTION = "copy.json";
/** A copy has 50,000 files at most, with paths of up to 2,000 bytes. */
const MAX_DESCRIPTION_BYTES = 128 * 1024 * 1024;

const descriptionSchema = z.object({
  runtime: z.enum(RUNTIMES),
  warnings: z.array(z.string()),
  files: z.array(z.object({ path: z.string(), size: z.int().nonnegative(), sha256: z.string() })),
});

type Description = z.infer<typeof descriptionSchema>;

/** Packs files as a tar archive, which is written as fast as it is read. */
export function packFiles(files: AsyncIterable<AppDataFile>): Readable {
  return packArchive(async (archive) => {
    for await (const file of files) await addFile(archive, file);
  });
}

/** Packs a copy: `copy.json` with the list of its files, then the files. */
export function packCopy({ runtime, warnings, files }: AppDataCopy): Readable {
  return packArchive(async (archive) => {
    const listed = files.map(({ path, size, sha256 }) => ({ path, size, sha256 }));
    const description: Description = { runtime, warnings: [...warnings], files: listed };
    archive.entry({ name: DESCRIPTION }, JSON.stringify(description));
    for (const file of files) await addFile(archive, file);
  });
}

async function addFile(archive: Pack, { path, size, content }: AppDataFile): Promise<void> {
  await pipeline(Readable.from(buffers(content()), { objectMode: false }), archive.entry({ name: path, size }));
}

/** The source may use its buffer again for the next chunk. */
async function* buffers(content: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  for await (const chunk of content) yield Buffer.from(chunk);
}

/** Reads what `packFiles` packed. The content of a file is valid until the next file. */
export async function* unpackFiles(body: AsyncIterable<Uint8Array>): AsyncGenerator<AppDataFile> {
  const entries = extract();
  const reading = pipeline(body, entries);
  // An error reaches the caller through the entries too.
  reading.catch(() => undefined);
  try {
    for await (const entry of entries) {
      const { name, size } = entry.header;
      yield { path: name, size: size ?? 0, content: () => entry as AsyncIterable<Uint8Array> };
      entry.resume();
    }
    await reading;
  } finally {
    entries.destroy();
  }
}

/** What `packCopy` packed, while it arrives. The files must be read in their order, each once. */
export async function readCopy(
  body: AsyncIterable<Uint8Array>,
): Promise<Pick<AppDataCopy, "runtime" | "warnings" | "files">> {
  const members = unpackFiles(body);
  const first = await members.next();
  const text = first.done === true ? null : await readBody(first.value.content(), MAX_DESCRIPTION_BYTES);
  if (text === null) throw new Error("The copy has no description");
  const { runtime, warnings, files } = descriptionSchema.parse(parseJson(text.toString("utf8")));
  const copied = files.map((file): CopiedFile => ({ ...file, content: () => readNext(members, file) }));
  return { runtime, warnings, files: copied };
}

async function* readNext(
  members: AsyncIterator<AppDataFile>,
  { path, size }: Pick<CopiedFile, "path" | "size">,
): AsyncGenerator<Uint8Array> {
  const next = await members.next();
  if (next.done === true || next.value.path !== path || next.value.size !== size)
    throw new Error(`The files of a copy are not read in their order: ${path}`);
  yield* next.value.content();
}
