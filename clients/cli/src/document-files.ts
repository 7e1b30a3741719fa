import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { unzipSync } from "fflate";
import {
  ARCHIVE_LIMITS,
  ArchiveError,
  ArchiveSelection,
  isDocumentFile,
} from "../../../domain/documents/archive-files.ts";
import { CliError, usageError } from "./cli-error.ts";

/** A file to upload. */
export interface LocalFile {
  /** Its path, also of the archive that contains it. */
  file: string;
  /** Of a file in an archive, which is unpacked in memory. */
  content?: Buffer;
  /** Its name in the service, with folders. The same name again becomes a new version of the document. */
  name: string;
}

export interface FoundFiles {
  files: LocalFile[];
  /** Files of archives that are not uploaded, with the reason. */
  refused: { file: string; error: string }[];
  /** Files in folders that are not documents. */
  skipped: string[];
}

/**
 * Finds the files that arguments name: a file itself, the documents in a folder and the folders below it, and those in a zip archive. Symbolic
 * links and hidden files are left out.
 *
 * @throws {CliError} when there is no such file
 */
export async function findDocuments(args: readonly string[]): Promise<FoundFiles> {
  const found: FoundFiles = { files: [], refused: [], skipped: [] };
  for (const arg of args) {
    const stats = await stat(arg).catch((error: NodeJS.ErrnoException) => {
      throw usageError(`Cannot read ${arg}: ${error.code ?? error.message}.`);
    });
    if (stats.isDirectory()) await findInFolder(arg, found);
    else if (/\.zip$/i.test(arg)) await findInArchive(arg, stats.size, found);
    else found.files.push({ file: arg, name: nameOf(arg) });
  }
  return found;
}

async function findInFolder(folder: string, found: FoundFiles): Promise<void> {
  for await (const file of listFiles(folder)) {
    const isHidden = path
      .relative(folder, file)
      .split(path.sep)
      .some((part) => part.startsWith("."));
    if (isHidden || path.extname(file) === "" || !isDocumentFile(file)) found.skipped.push(file);
    else found.files.push({ file, name: nameOf(file, folder) });
  }
}

/** Unpacks the documents of an archive in memory, so that no path of it is written. */
async function findInArchive(file: string, size: number, found: FoundFiles): Promise<void> {
  const { clientBytes } = ARCHIVE_LIMITS;
  if (size > clientBytes) throw new CliError(`${file} exceeds ${clientBytes / 1024 / 1024} MiB. Split it.`);
  const archive = await readFile(file);
  const selection = new ArchiveSelection(archive);
  const unpacked = unzip(file, archive, selection);
  for (const { path: inside, name, problem } of selection.list(path.basename(file)))
    if (problem !== null) found.refused.push({ file: name, error: `The file ${problem}` });
    else found.files.push({ file: `${file}: ${inside}`, name, content: Buffer.from(unpacked[inside] ?? []) });
  for (let hidden = 0; hidden < selection.leftOut; hidden++) found.skipped.push(file);
}

function unzip(file: string, archive: Buffer, selection: ArchiveSelection): Record<string, Uint8Array> {
  try {
    return unzipSync(archive, { filter: (entry) => selection.accepts(entry) });
  } catch (error) {
    if (error instanceof ArchiveError) throw new CliError(`${file} ${error.message}`);
    throw new CliError(`${file} is not a zip archive, or it is damaged.`);
  }
}

/** Yields the files in a folder and in the folders below it, by name. Follows no symbolic links. */
export async function* listFiles(folder: string): AsyncGenerator<string, void, undefined> {
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* listFiles(file);
    else if (entry.isFile()) yield file;
  }
}

/** The path from the current folder. Of a file elsewhere, the path from the folder that was named. */
function nameOf(file: string, folder?: string): string {
  const relative = path.relative("", file);
  const isInside = relative !== "" && !path.isAbsolute(relative) && !relative.startsWith("..");
  const elsewhere = () =>
    folder === undefined
      ? path.basename(file)
      : path.join(path.basename(path.resolve(folder)), path.relative(folder, file));
  return (isInside ? relative : elsewhere()).split(path.sep).join("/");
}
