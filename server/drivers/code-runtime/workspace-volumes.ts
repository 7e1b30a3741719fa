import { mkdir, mkdtemp, rmdir } from "node:fs/promises";
import path from "node:path";
import { WORKSPACE_LIMITS } from "../../../domain/ports/agent-workspaces.ts";
import { emptyFolder, removeTree } from "../../files/remove-tree.ts";
import { mountVolume, unmountVolumes } from "../../sandbox/memory-volume.ts";
import type { StartProcess } from "../../sandbox/start-process.ts";
import { createSharedFolder } from "./program-folders.ts";

/** The size of a file system with exactly one workspace. Its root folder counts as a file too. */
export const VOLUME_SIZE = { sizeMb: WORKSPACE_LIMITS.bytes / 1024 ** 2, files: WORKSPACE_LIMITS.entries + 1 };

/** The name of the folder of a volume starts with it. */
const PREFIX = "workspace-";

/** An empty folder for the workspace of one program. */
export interface Volume extends AsyncDisposable {
  path: string;
}

export interface WorkspaceVolumesOptions {
  /** The folder for files of programs, from `openProgramsFolder`. */
  programsFolder: string;
  /** How many file systems in memory to mount; `null` for folders on the disk, whose size the kernel does not limit. */
  mountedCount: number | null;
  startProcess?: StartProcess | undefined;
}

/**
 * The folders in which programs have their workspaces while they run. If they are file systems in memory, all of them are
 * mounted before the first program and used again: mounting one costs more than starting a sandbox.
 */
export class WorkspaceVolumes implements AsyncDisposable {
  readonly #options: WorkspaceVolumesOptions;
  readonly #free: string[] = [];
  readonly #waiting: ((folder: string) => void)[] = [];
  #mounting: Promise<void> | null = null;

  constructor(options: WorkspaceVolumesOptions) {
    this.#options = options;
  }

  /** Waits while all volumes are in use. */
  async acquire(): Promise<Volume> {
    const { programsFolder, mountedCount } = this.#options;
    if (mountedCount === null) {
      const folder = await mkdtemp(path.join(await createSharedFolder(programsFolder), PREFIX));
      return { path: folder, [Symbol.asyncDispose]: () => removeTree(folder) };
    }
    this.#mounting ??= this.#mountAll(mountedCount);
    await this.#mounting;
    const folder = this.#free.pop() ?? (await new Promise<string>((resolve) => this.#waiting.push(resolve)));
    return { path: folder, [Symbol.asyncDispose]: () => this.#release(folder) };
  }

  async #mountAll(count: number): Promise<void> {
    const { programsFolder, startProcess } = this.#options;
    const parent = await createSharedFolder(programsFolder);
    const folders = Array.from({ length: count }, (_, index) => path.join(parent, `${PREFIX}${index}`));
    await Promise.all(
      folders.map(async (folder) => {
        await mkdir(folder, { mode: 0o700 });
        await mountVolume(folder, VOLUME_SIZE, startProcess);
      }),
    );
    this.#free.push(...folders);
  }

  async #release(folder: string): Promise<void> {
    await emptyFolder(folder);
    const next = this.#waiting.shift();
    if (next === undefined) this.#free.push(folder);
    else next(folder);
  }

  /** Unmounts the volumes. No program may be using one. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#mounting === null) return;
    await this.#mounting.catch(() => undefined);
    await unmountVolumes(this.#options.programsFolder, this.#options.startProcess);
    await Promise.all(this.#free.splice(0).map((folder) => rmdir(folder)));
  }
}
