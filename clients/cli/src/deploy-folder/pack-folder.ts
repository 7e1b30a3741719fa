import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, readFile, readlink, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { pack, type Pack } from "tar-stream";
import { ARCHIVE_LIMITS } from "../../../../domain/archives/archive-limits.ts";
import { CliError } from "../cli-error.ts";
import { type ListedFile, listFolder } from "./list-files.ts";

/** An archive in a temporary folder. */
export interface PackedFolder {
  /** The SHA-256 of the archive. Folders with the same files have the same. */
  id: string;
  size: number;
  fileCount: number;
  /** What is left out, as messages for the user. */
  notes: string[];
  open(): ReadableStream<Uint8Array>;
  remove(): Promise<void>;
}

const MEBIBYTE = 1024 * 1024;
/** The same for all files, so that the same files have the same id. */
const MODIFIED_AT = new Date(0);
const SHOWN = 3;

/**
 * Packs the files of a folder that a deployment needs.
 *
 * @throws {CliError} for a folder without files, with too large ones, or that cannot be read
 */
export async function packFolder(
  folder: string,
  options: { includesSecrets: boolean; signal: AbortSignal },
): Promise<PackedFolder> {
  const { files, secrets, others } = await listFolder(folder, options);
  const { kept, leadOut } = await checkLinks(folder, files);
  const large = kept.find(({ size }) => size > ARCHIVE_LIMITS.bytes);
  if (large !== undefined)
    throw new CliError(
      `${large.path} has ${formatSize(large.size)}, and a file may have ${formatSize(ARCHIVE_LIMITS.bytes)}. Exclude it in .gitignore.`,
    );
  if (kept.every(({ isLink }) => isLink))
    throw new CliError(`${folder} contains no files to deploy. What .gitignore excludes is not deployed.`);
  const temporary = await mkdtemp(path.join(tmpdir(), "svc-deploy-"));
  const remove = (): Promise<void> => rm(temporary, { recursive: true, force: true });
  try {
    const file = path.join(temporary, "archive.tgz");
    const id = await writeArchive(folder, kept, file, options.signal);
    const { size } = await stat(file);
    if (size > ARCHIVE_LIMITS.bytes) throw tooLarge(size, kept);
    return {
      id,
      size,
      fileCount: kept.filter(({ isLink }) => !isLink).length,
      notes: describeLeftOut({ secrets, others, leadOut }),
      open: () => Readable.toWeb(createReadStream(file)) as ReadableStream<Uint8Array>,
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

interface PackedFile extends ListedFile {
  /** Of a symbolic link. */
  target: string | null;
}

/** The service accepts links that stay in the folder. */
async function checkLinks(folder: string, files: readonly ListedFile[]) {
  const kept: PackedFile[] = [];
  const leadOut: string[] = [];
  for (const file of files) {
    const target = file.isLink ? await readlink(path.join(folder, file.path)) : null;
    if (target === null || staysInside(file.path, target)) kept.push({ ...file, target });
    else leadOut.push(file.path);
  }
  return { kept, leadOut };
}

/** A `..` behind a name could lead out, because the name can be a link. */
function staysInside(file: string, target: string): boolean {
  const parts = target.split("/").filter((part) => part !== "" && part !== ".");
  const ups = parts.findIndex((part) => part !== "..");
  const isBelow = ups !== -1 && ups < file.split("/").length && !parts.slice(ups).includes("..");
  return isBelow && !path.isAbsolute(target);
}

async function writeArchive(
  folder: string,
  files: readonly PackedFile[],
  file: string,
  signal: AbortSignal,
): Promise<string> {
  const archive = pack();
  const output = new PassThrough();
  const hash = createHash("sha256");
  const written = pipeline(
    output,
    createGzip(),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(file, { mode: 0o600 }),
    { signal },
  );
  archive.pipe(output);
  const packed = addFiles(archive, folder, files, signal).catch((error: unknown) => {
    output.destroy(error as Error);
    throw error;
  });
  await Promise.all([packed, written]);
  return hash.digest("hex");
}

async function addFiles(
  archive: Pack,
  folder: string,
  files: readonly PackedFile[],
  signal: AbortSignal,
): Promise<void> {
  for (const { path: name, target, isExecutable } of files) {
    signal.throwIfAborted();
    if (target === null) await addFile(archive, path.join(folder, name), { name, mode: isExecutable ? 0o755 : 0o644 });
    else archive.entry({ name, type: "symlink", linkname: target, mtime: MODIFIED_AT });
  }
  archive.finalize();
}

async function addFile(archive: Pack, file: string, { name, mode }: { name: string; mode: number }): Promise<void> {
  const content = await readFile(file).catch((error: NodeJS.ErrnoException) => {
    throw new CliError(`Cannot read ${file}: ${error.code ?? error.message}.`, 1, { cause: error });
  });
  await new Promise<void>((resolve, reject) => {
    archive.entry({ name, mode, mtime: MODIFIED_AT }, content, (error) => (error ? reject(error) : resolve()));
  });
}

function tooLarge(size: number, files: readonly ListedFile[]): CliError {
  const largest = files.toSorted((a, b) => b.size - a.size).slice(0, SHOWN);
  const names = largest.map((file) => `${file.path} (${formatSize(file.size)})`).join(", ");
  return new CliError(
    `The folder packs to ${formatSize(size)}, and the service accepts ${formatSize(ARCHIVE_LIMITS.bytes)}. The largest files are ${names}. Exclude what the app does not need in .gitignore.`,
  );
}

/** Returns a size as people read it, such as `1.5 MiB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  const [value, unit] = bytes < MEBIBYTE ? [bytes / 1024, "KiB"] : [bytes / MEBIBYTE, "MiB"];
  return `${Math.round(value * 10) / 10} ${unit}`;
}

function describeLeftOut(left: { secrets: string[]; others: string[]; leadOut: string[] }): string[] {
  const notes: string[] = [];
  if (left.secrets.length > 0)
    notes.push(
      `Left out ${listNames(left.secrets)}: files with secrets are not uploaded. Pass their variables with --secrets-file, or add --include-secrets.`,
    );
  if (left.leadOut.length > 0) notes.push(`Left out ${listNames(left.leadOut)}: symbolic links that lead out.`);
  if (left.others.length > 0) notes.push(`Left out ${listNames(left.others)}: neither files nor links.`);
  return notes;
}

function listNames(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).join(", ");
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown;
}
