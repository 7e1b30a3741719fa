import { constants } from "node:fs";
import { cp, type FileHandle, lstat, mkdir, open, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import type { SourceFile, Workspace, TemporaryWorkspaces } from "../../../domain/ports/temporary-workspaces.ts";
import { decodeText } from "../../../domain/shared/plain-text.ts";
import { removeTree } from "../../files/remove-tree.ts";
import { buildVolumeSize, mountVolume, unmountVolumes } from "../../sandbox/memory-volume.ts";
import { startChild, type StartProcess } from "../../sandbox/start-process.ts";

/** One folder per attempt, below a root folder that contains nothing else. */
export class FilesystemTemporaryWorkspaces implements TemporaryWorkspaces {
  readonly #root: string;
  readonly #volumeMb: number | null;
  readonly #startProcess: StartProcess;

  /** @param volumeMb - the size of a volume in memory for each workspace, whose size the kernel limits; `null` for none */
  constructor(root: string, volumeMb: number | null = null, startProcess = startChild) {
    this.#root = root;
    this.#volumeMb = volumeMb;
    this.#startProcess = startProcess;
  }

  async open(deploymentId: string, attempt: number): Promise<Workspace> {
    const directory = path.join(this.#root, `${deploymentId}.${attempt}`);
    await this.#remove(directory);
    await mkdir(directory, { recursive: true, mode: 0o755 });
    if (this.#volumeMb !== null) await mountVolume(directory, buildVolumeSize(this.#volumeMb), this.#startProcess);
    const sourceDirectory = path.join(directory, "source");
    const outputDirectory = path.join(directory, "output");
    for (const folder of [sourceDirectory, outputDirectory]) await mkdir(folder, { recursive: true, mode: 0o755 });
    return {
      sourceDirectory,
      outputDirectory,
      sourceFiles: () => regularFiles(sourceDirectory, ""),
      filesIn: (folder) => regularFiles(folder, ""),
      readFile: readRegular,
      readFileInParts,
      writeOutput: (file, body) => writeBelow(outputDirectory, file, body),
      createOutputFolder: (folder) => createBelow(outputDirectory, folder),
      copyFolder: (folder, name) => copyFolder(folder, path.join(directory, name)),
      removeFolder: removeTree,
      readSourceText: (file) => readTextBelow(sourceDirectory, file),
      writeSourceText: (file, text) => writeTextBelow(sourceDirectory, file, text),
      remove: () => this.#remove(directory),
    };
  }

  async clear(): Promise<void> {
    // The root itself may be a file system of the operator.
    const names = await readdir(this.#root).catch(() => []);
    for (const name of names) await this.#remove(path.join(this.#root, name));
    await removeTree(this.#root);
  }

  /** Succeeds if the folder does not exist. */
  async #remove(directory: string): Promise<void> {
    await unmountVolumes(directory, this.#startProcess);
    await removeTree(directory);
  }
}

/** Never follows a link: in a hostile repository it can point to any file of the host. */
async function* regularFiles(root: string, folder: string): AsyncIterable<SourceFile> {
  const entries = await readdir(path.join(root, folder), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const relative = path.posix.join(folder, entry.name);
    if (entry.isDirectory()) yield* regularFiles(root, relative);
    else if (entry.isFile()) yield { path: relative, read: () => readRegular(path.join(root, relative)) };
  }
}

/** The folder contains nothing that untrusted code created. */
async function writeBelow(root: string, file: string, body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  await createBelow(root, path.dirname(file));
  const target = path.join(root, file);
  await writeFile(target, body, { mode: 0o644 });
  return target;
}

async function createBelow(root: string, folder: string): Promise<string> {
  const target = path.join(root, folder);
  await mkdir(target, { recursive: true, mode: 0o755 });
  return target;
}

async function readRegular(file: string): Promise<Uint8Array> {
  await using handle = await openRegular(file);
  return await handle.readFile();
}

async function* readFileInParts(file: string, partBytes: number): AsyncIterable<Uint8Array> {
  await using handle = await openRegular(file);
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(partBytes), 0, partBytes);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

function openRegular(file: string): Promise<FileHandle> {
  return open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

async function copyFolder(from: string, to: string): Promise<string> {
  await removeTree(to);
  await cp(from, to, { recursive: true, verbatimSymlinks: true });
  return to;
}

async function readTextBelow(root: string, file: string): Promise<string | null | undefined> {
  // A new commit can have a link where an earlier one had a folder.
  const target = await resolveBelow(root, file).catch(() => null);
  if (target === null) return undefined;
  const status = await lstat(target).catch(() => null);
  if (status === null) return null;
  return status.isFile() ? decodeText(await readRegular(target)) : undefined;
}

async function writeTextBelow(root: string, file: string, text: string | null): Promise<void> {
  const target = await resolveBelow(root, file);
  if (text === null) return rm(target, { force: true });
  await mkdir(path.dirname(target), { recursive: true, mode: 0o755 });
  await using handle = await open(
    target,
    constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
    0o644,
  );
  await handle.writeFile(text);
}

/**
 * Resolves a path in a folder that no other process changes meanwhile.
 *
 * @throws {RangeError} when it leads out of the folder, or through a link
 */
async function resolveBelow(root: string, file: string): Promise<string> {
  const segments = file.split("/");
  if (segments.some((segment) => ["", ".", ".."].includes(segment))) throw new RangeError("The path is not allowed");
  let folder = root;
  for (const segment of segments.slice(0, -1)) {
    folder = path.join(folder, segment);
    const status = await lstat(folder).catch(() => null);
    if (status !== null && !status.isDirectory()) throw new RangeError("The path leads through a link or a file");
  }
  return path.join(root, ...segments);
}
