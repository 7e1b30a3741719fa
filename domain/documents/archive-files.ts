import { DOCUMENT_LIMITS } from "./document-limits.ts";

/** The ends of the names of files that are read as documents. */
export const DOCUMENT_EXTENSIONS = [
  ...["md", "markdown", "mdx", "txt", "text", "html", "htm", "xhtml", "pdf"],
  ...["docx", "pptx", "xlsx", "csv", "tsv", "odt", "ods", "odp", "epub"],
] as const;

const MEBIBYTE = 1024 * 1024;

export const ARCHIVE_LIMITS = {
  /** An archive that a client unpacks in memory. */
  clientBytes: 500 * MEBIBYTE,
  /** Files, folders and everything else in an archive. */
  entries: 10_000,
  /** The documents of an archive together, when they are unpacked. */
  unpackedBytes: 100 * MEBIBYTE,
  /** Each document, when it is unpacked. */
  fileBytes: DOCUMENT_LIMITS.fileBytes,
  /** How many folders can be in each other. */
  depth: 20,
  /** A file that unpacks to more than `ratioBytes` has at most so many times its size in the archive. */
  ratio: 100,
  ratioBytes: 5 * MEBIBYTE,
} as const;

/** Whether a file is hidden, or was added by a system and not by a person. */
export function isHiddenFile(path: string): boolean {
  return path.split("/").some((part) => /^\.(?!\.?$)|^(?:__MACOSX|Thumbs\.db)$/.test(part));
}

export function isDocumentFile(path: string): boolean {
  const extension = /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase();
  return extension === undefined || DOCUMENT_EXTENSIONS.some((each) => each === extension);
}

/** Returns why a file of an archive is not stored, in words that follow its name; `null` if it may be. */
export function findPathProblem(path: string): string | null {
  const parts = path.split("/");
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  if (path.includes("\\") || /[\u0000-\u001f\u007f]/.test(path) || parts.some((part) => /^(?:\.{0,2}|.*:)$/.test(part)))
    return "has a path that leads out of the archive, or is not a path.";
  const { fileNameLength } = DOCUMENT_LIMITS;
  if (path.length > fileNameLength) return `has a name with its folders of more than ${fileNameLength} characters.`;
  if (parts.length > ARCHIVE_LIMITS.depth) return `is in more than ${ARCHIVE_LIMITS.depth} folders.`;
  return isDocumentFile(path) ? null : `has the type .${path.split(".").at(-1)?.slice(0, 20)}, which is not read.`;
}

/** Returns the folder in which all files are, such as `docs` of `docs/a.md` and `docs/b/c.md`; `null` if there is none. */
export function findCommonFolder(paths: readonly string[]): string | null {
  const [first = "", ...others] = new Set(paths.map((path) => (path.includes("/") ? path.split("/", 1)[0] : "")));
  return first === "" || others.length > 0 ? null : first;
}

/**
 * Returns what stands before the paths of an archive: nothing if all its files are in one folder, and otherwise the name of the archive, so
 * that the files have the names that they would have as a folder.
 *
 * @param paths - of the files that are stored
 */
export function archivePrefix(archiveName: string, paths: readonly string[]): string {
  if (findCommonFolder(paths) !== null) return "";
  const name = (archiveName.split(/[/\\]/).at(-1) ?? "").replace(/\.zip$/i, "");
  return name === "" ? "" : `${name}/`;
}

/** The bits of a file on Unix that say what it is, and their values for folders and files; zero says nothing. */
const FILE_TYPE = 0xf000;
const FILE_TYPES: readonly number[] = [0, 0x4000, 0x8000];
const CENTRAL_HEADER = 0x02014b50;
const CENTRAL_HEADER_BYTES = 46;
const END_RECORD = 0x06054b50;
const END_RECORD_BYTES = 22;

/** Returns the names of symbolic links and devices in a zip file, which libraries return as files. */
export function listLinks(archive: Uint8Array): Set<string> {
  const view = new DataView(archive.buffer, archive.byteOffset, archive.byteLength);
  const links = new Set<string>();
  let end = archive.length - END_RECORD_BYTES;
  while (end >= 0 && view.getUint32(end, true) !== END_RECORD) end--;
  let at = end < 0 ? archive.length : view.getUint32(end + 16, true);
  while (at + CENTRAL_HEADER_BYTES <= archive.length && view.getUint32(at, true) === CENTRAL_HEADER) {
    const nameEnd = at + CENTRAL_HEADER_BYTES + view.getUint16(at + 28, true);
    const type = (view.getUint32(at + 38, true) >>> 16) & FILE_TYPE;
    if (!FILE_TYPES.includes(type))
      links.add(new TextDecoder().decode(archive.subarray(at + CENTRAL_HEADER_BYTES, nameEnd)));
    at = nameEnd + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return links;
}

/** An archive is beyond a limit. The message is for the user, and follows the name of the archive. */
export class ArchiveError extends Error {
  override readonly name = "ArchiveError";
}

/** Selects the files of a zip archive to unpack, for a library that asks for each file with the sizes that the archive declares. */
export class ArchiveSelection {
  readonly #links: ReadonlySet<string>;
  /** By path: why a file is not unpacked; `null` for one that is. */
  readonly #problems = new Map<string, string | null>();
  #entries = 0;
  #room: number = ARCHIVE_LIMITS.unpackedBytes;
  /** How many hidden files are left out. */
  leftOut = 0;

  constructor(archive: Uint8Array) {
    this.#links = listLinks(archive);
  }

  /** @throws {ArchiveError} for an archive with too many files or too much data */
  accepts({ name, size, originalSize }: { name: string; size: number; originalSize: number }): boolean {
    if (++this.#entries > ARCHIVE_LIMITS.entries) throw new ArchiveError("has too many files. Split it.");
    if (name.endsWith("/")) return false;
    if (isHiddenFile(name)) {
      this.leftOut++;
      return false;
    }
    const problem = this.#links.has(name) ? "is a link or a device." : findPathProblem(name);
    const found = problem ?? findSizeProblem(size, originalSize);
    this.#problems.set(name, found);
    if (found !== null) return false;
    this.#room -= originalSize;
    if (this.#room < 0) throw new ArchiveError("unpacks to too much data. Split it.");
    return true;
  }

  /** Returns the files in the order of the archive, with the names of their documents. */
  list(archiveName: string): { path: string; name: string; problem: string | null }[] {
    const prefix = archivePrefix(
      archiveName,
      [...this.#problems].filter(([, problem]) => problem === null).map(([path]) => path),
    );
    return [...this.#problems].map(([path, problem]) => ({ path, name: prefix + path, problem }));
  }
}

function findSizeProblem(size: number, originalSize: number): string | null {
  const { fileBytes, ratioBytes, ratio } = ARCHIVE_LIMITS;
  if (originalSize > fileBytes) return `has more than ${fileBytes / MEBIBYTE} MiB.`;
  return originalSize > Math.max(ratioBytes, size * ratio) ? "unpacks to too much data." : null;
}
