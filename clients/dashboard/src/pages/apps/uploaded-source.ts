import { unzipSync } from "fflate";
import ignore from "ignore";
import { createTarPacker } from "modern-tar";
import { ARCHIVE_LIMITS } from "../../../../../domain/archives/archive-limits.ts";
import {
  type IgnoreRules,
  isAlwaysLeftOut,
  isIgnored,
  isSecretFile,
  toAppName,
} from "../../../../../domain/archives/source-folder.ts";
import { findCommonFolder, listLinks } from "../../../../../domain/documents/archive-files.ts";
import type { DroppedFile } from "../../ui/dropped-files.ts";
import { formatBytes } from "../../ui/quantities.ts";

/** The source of an app, as a user has dropped or chosen it. */
export interface UploadedSource {
  /** That of the folder or of the archive, as a name of the app. */
  name: string;
  /** `null` for a tar archive, which only the service opens. */
  fileCount: number | null;
  /** In bytes, before it is compressed. */
  size: number;
  /** What is not uploaded, and why, as sentences. */
  notes: string[];
  /** Packs the files as a tar archive that is compressed by gzip. The same files become the same archive. */
  pack: () => Promise<File>;
}

/** Why what the user has chosen cannot be deployed, as a sentence for the user. */
export class SourceError extends Error {
  override readonly name = "SourceError";
}

const TAR = /\.(?:tar|tar\.(?:gz|zst)|tgz|tzst)$/i;
const ZIP = /\.zip$/i;
/** More cannot be deployed. An archive that declares more is not unpacked in the memory of the browser. */
const UNPACKED_BYTES = 512 * 1024 * 1024;

/**
 * Reads which files are deployed, by the rules of `svc deploy`: what `.gitignore` files name, `node_modules`, `.git` and files with secrets are
 * left out.
 *
 * @param files - of one folder, or one archive
 * @throws {SourceError}
 */
export async function readSource(files: readonly DroppedFile[]): Promise<UploadedSource> {
  const [first] = files;
  if (first === undefined) throw new SourceError("There are no files to deploy.");
  if (files.length === 1 && TAR.test(first.path)) return readTar(first.file);
  if (files.length === 1 && ZIP.test(first.path))
    return readFiles(await unzip(first.file), first.file.name.replace(ZIP, ""));
  return readFiles(files, null);
}

function readTar(file: File): UploadedSource {
  checkSize(file);
  const name = file.name.replace(TAR, "");
  return { name: toAppName(name), fileCount: null, size: file.size, notes: [], pack: async () => file };
}

async function unzip(file: File): Promise<DroppedFile[]> {
  checkSize(file);
  const archive = new Uint8Array(await file.arrayBuffer());
  let room = UNPACKED_BYTES;
  try {
    const links = listLinks(archive);
    const unpacked = unzipSync(archive, {
      filter({ name, originalSize }) {
        if (name.endsWith("/") || links.has(name) || name.split("/").some(isAlwaysLeftOut)) return false;
        room -= originalSize;
        if (room < 0) throw new SourceError(`The archive unpacks to more than ${formatBytes(UNPACKED_BYTES)}.`);
        return true;
      },
    });
    return Object.entries(unpacked).map(([path, content]) => ({ path, file: new File([content as BlobPart], path) }));
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError(`${file.name} is not a zip archive, or it is damaged.`);
  }
}

async function readFiles(files: readonly DroppedFile[], archiveName: string | null): Promise<UploadedSource> {
  // A dropped folder, and most archives, have all files in one folder.
  const folder = findCommonFolder(files.map(({ path }) => path));
  const inside =
    folder === null ? files : files.map(({ path, file }) => ({ path: path.slice(folder.length + 1), file }));
  const candidates = inside.filter(({ path }) => !path.split("/").some(isAlwaysLeftOut));
  const ignored = await readIgnoreFiles(candidates);
  const wanted = candidates.filter(({ path }) => !ignored.has(path));
  const secrets = wanted.filter(isSecret);
  const deployed = wanted.filter((file) => !isSecret(file)).toSorted((a, b) => (a.path < b.path ? -1 : 1));
  if (deployed.length === 0) throw new SourceError("There are no files to deploy.");
  return {
    name: toAppName(archiveName ?? folder ?? ""),
    fileCount: deployed.length,
    size: deployed.reduce((sum, { file }) => sum + file.size, 0),
    notes: describeLeftOut(secrets, wanted.length < inside.length),
    pack: () => pack(deployed),
  };
}

function isSecret({ path }: DroppedFile): boolean {
  return isSecretFile(path.slice(path.lastIndexOf("/") + 1));
}

function describeLeftOut(secrets: readonly DroppedFile[], hasIgnored: boolean): string[] {
  const notes: string[] = [];
  if (secrets.length > 0)
    notes.push(
      `Left out, because they contain secrets: ${secrets.map(({ path }) => path).join(", ")}. Set the variables of the app instead.`,
    );
  if (hasIgnored) notes.push("node_modules, .git and what .gitignore names are left out.");
  return notes;
}

class IgnoredPaths {
  readonly #rules: readonly IgnoreRules[];
  readonly #folders = new Map<string, boolean>([["", false]]);

  /** @param rules - those of outer folders first */
  constructor(rules: readonly IgnoreRules[]) {
    this.#rules = rules;
  }

  /** What is in an ignored folder is ignored too, whatever a `.gitignore` in it says. */
  has(path: string): boolean {
    return this.#hasFolder(parentOf(path)) || isIgnored(path, this.#rulesAbove(path));
  }

  #hasFolder(folder: string): boolean {
    const known = this.#folders.get(folder);
    if (known !== undefined) return known;
    const found = this.#hasFolder(parentOf(folder)) || isIgnored(`${folder}/`, this.#rulesAbove(folder));
    this.#folders.set(folder, found);
    return found;
  }

  #rulesAbove(path: string): IgnoreRules[] {
    return this.#rules.filter(({ folder }) => folder === "" || path.startsWith(`${folder}/`));
  }
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

async function readIgnoreFiles(files: readonly DroppedFile[]): Promise<IgnoredPaths> {
  const found = files.filter(({ path }) => /(?:^|\/)\.gitignore$/.test(path));
  const rules = found.map(async ({ path, file }) => ({
    folder: parentOf(path),
    rules: ignore().add(await file.text()),
  }));
  return new IgnoredPaths((await Promise.all(rules)).toSorted((a, b) => a.folder.length - b.folder.length));
}

async function pack(files: readonly DroppedFile[]): Promise<File> {
  const { readable, controller } = createTarPacker();
  const packed = new Response(readable.pipeThrough(new CompressionStream("gzip"))).blob();
  try {
    for (const { path, file } of files) {
      const mode = (await isProgram(file)) ? 0o755 : 0o644;
      const entry = controller.add({ name: path, size: file.size, mode, type: "file", mtime: new Date(0) });
      await file.stream().pipeTo(entry);
    }
    controller.finalize();
  } catch (error) {
    controller.error(error);
    await packed.catch(() => undefined);
    throw new SourceError(
      "The browser cannot read the files. They may have been moved or changed. Choose them again.",
      {
        cause: error,
      },
    );
  }
  const archive = new File([await packed], "source.tar.gz");
  checkSize(archive);
  return archive;
}

/** A browser does not say which files are executable. */
async function isProgram(file: File): Promise<boolean> {
  return (await file.slice(0, 2).text()) === "#!";
}

function checkSize({ size }: File): void {
  if (size > ARCHIVE_LIMITS.bytes)
    throw new SourceError(
      `The archive has ${formatBytes(size)}. At most ${formatBytes(ARCHIVE_LIMITS.bytes)} can be uploaded.`,
    );
}
