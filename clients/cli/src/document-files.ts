import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { usageError } from "./cli-error.ts";

/** A file to upload. */
export interface LocalFile {
  file: string;
  /** Its name in the service, with folders. The same name again becomes a new version of the document. */
  name: string;
}

export interface FoundFiles {
  files: LocalFile[];
  /** Files in folders that are not documents. */
  skipped: string[];
}

/** The ends of names of documents, as the service reads them. */
const DOCUMENT = /\.(md|markdown|txt|text|html?|pdf|docx)$/i;

/**
 * Finds the files that arguments name: a file itself, and the documents in a folder and the folders below it. Symbolic links
 * in a folder and hidden files are left out.
 *
 * @throws {CliError} when there is no such file
 */
export async function findDocuments(args: readonly string[]): Promise<FoundFiles> {
  const found: FoundFiles = { files: [], skipped: [] };
  for (const arg of args) {
    const stats = await stat(arg).catch((error: NodeJS.ErrnoException) => {
      throw usageError(`Cannot read ${arg}: ${error.code ?? error.message}.`);
    });
    if (!stats.isDirectory()) found.files.push({ file: arg, name: nameOf(arg) });
    else await findInFolder(arg, found);
  }
  return found;
}

async function findInFolder(folder: string, found: FoundFiles): Promise<void> {
  for await (const file of listFiles(folder)) {
    const isHidden = path
      .relative(folder, file)
      .split(path.sep)
      .some((part) => part.startsWith("."));
    if (isHidden || !DOCUMENT.test(file)) found.skipped.push(file);
    else found.files.push({ file, name: nameOf(file, folder) });
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
