import { type FileHandle, link, lstat, mkdir, readdir, rename, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { removeTree } from "../../../files/remove-tree.ts";
import { isSqlite } from "../app-databases/find-sqlite-files.ts";
import {
  listFolderBeneath,
  openBeneath,
  openFolderBeneath,
  pathOf,
  statBeneath,
} from "../app-databases/open-beneath.ts";
import {
  canBeDataFolder,
  DATABASE_SUFFIXES,
  type DataKind,
  dataKindOf,
  digestOf,
  holdsOnlyData,
  isBesideDatabase,
  isDeployed,
  NOT_SEARCHED,
  openDeployed,
} from "./data-files.ts";
import { DeployedDigests, DIGESTS_FILE } from "./deployed-digests.ts";

/** The folder in `/data` with what a server wrote beside its code. */
export const KEPT = "files";
/** What a server wrote to files that a later deployment has changed. */
const REPLACED = "replaced-files";
const MAX_ENTRIES = 20_000;
/** The next start of the app waits for the search. */
const SEARCH_MS = 2000;

/** The folders of a server on the host. */
export interface ServerFolders {
  /** What is `/data` inside. */
  data: string;
  /** The path of `data` inside. */
  dataInside: string;
  /** The folder with what the server has written beside `/data`, and possibly the rest of its files. */
  written: string;
  /** The folders with what was deployed, the uppermost first. */
  layers: readonly string[];
}

interface FoundData {
  /** Relative to the folder of the code. */
  name: string;
  kind: DataKind;
}

/**
 * Keeps what a server writes beside its code, which is new at each start: SQLite databases, files that it has created, and files of
 * the deployment that are its data, such as `db.json`. At the end of the server they move to `/data/files`, and at its next start
 * they are at the same paths: databases and folders as links, because SQLite and the server add files beside them; other files as hard
 * links, because some servers ignore links.
 */
export class KeptFiles {
  readonly #folders: ServerFolders;
  readonly #digests: DeployedDigests;
  readonly #placed: Set<string> | null;

  /** @param placed - the names that `place` has placed before; `null` if they are not known */
  constructor(folders: ServerFolders, placed: readonly string[] | null = []) {
    this.#folders = folders;
    this.#digests = new DeployedDigests(folders.data, KEPT);
    this.#placed = placed && new Set(placed);
  }

  /** What was placed at the start, relative to the folder of the code. */
  get placed(): string[] {
    return [...(this.#placed ?? [])];
  }

  /**
   * Places what earlier processes have left, before the server starts.
   *
   * @returns what the owner of the app must know
   */
  async place(): Promise<string[]> {
    const notices: string[] = [];
    const digests = await this.#digests.read();
    let remaining = MAX_ENTRIES;
    const visit = async (prefix: string): Promise<void> => {
      for (const entry of await listFolderBeneath(this.#folders.data, path.posix.join(KEPT, prefix))) {
        if (remaining-- <= 0) return;
        const name = path.posix.join(prefix, entry.name);
        if (name === DIGESTS_FILE) continue;
        if (entry.isFile() && !isBesideDatabase(name))
          notices.push(...(await this.#placeFile(name, digests.get(name))));
        else if (entry.isDirectory() && (await this.#isWhole(name))) await this.#placeLink(name);
        else if (entry.isDirectory()) await visit(name);
      }
    };
    await visit(".");
    return notices;
  }

  /**
   * Moves what the server wrote to `/data`, after its end.
   *
   * @returns the names of what was not there before, and whether all of it was found
   */
  async keep(): Promise<{ added: string[]; isComplete: boolean }> {
    const added: string[] = [];
    const search = { isComplete: true };
    // First, because what is moved below is not there either.
    for (const name of this.#placed ?? []) if (await this.#isRemoved(name)) await this.#removeKept(name);
    for await (const { name, kind } of this.#findData(search)) {
      await using original = await openDeployed(this.#folders.layers, name);
      if (original !== null) await this.#digests.set(name, await digestOf(original));
      if (!(await this.#move(name, kind))) continue;
      if (this.#placed?.has(name) !== true) added.push(name);
    }
    return { added, ...search };
  }

  /** Whether the server, which may be running, has written what `keep` would move. */
  async hasUnkept(): Promise<boolean> {
    for await (const _ of this.#findData()) return true;
    return false;
  }

  async *#findData(search = { isComplete: true }): AsyncGenerator<FoundData> {
    const { written, layers } = this.#folders;
    const deadline = Date.now() + SEARCH_MS;
    let remaining = MAX_ENTRIES;
    const pending = ["."];
    for (let prefix = pending.pop(); prefix !== undefined; prefix = pending.pop())
      for (const entry of await listFolderBeneath(written, prefix)) {
        search.isComplete = remaining-- > 0 && Date.now() < deadline;
        if (!search.isComplete) return;
        const name = path.posix.join(prefix, entry.name);
        if (entry.isDirectory()) {
          if (await this.#isDataFolder(name)) yield { name, kind: "folder" };
          else if (!NOT_SEARCHED.has(entry.name)) pending.push(name);
        } else if (entry.isFile() && !(await this.#isPlacedFile(name))) {
          const kind = await dataKindOf(name, written, layers);
          if (kind !== null) yield { name, kind };
        }
      }
  }

  async #isDataFolder(name: string): Promise<boolean> {
    const { written } = this.#folders;
    return (await this.#isWhole(name)) && (await holdsOnlyData(path.join(written, name)).catch(() => false));
  }

  /** Whether a folder is kept as a whole, because no deployment brings files for it. */
  async #isWhole(name: string): Promise<boolean> {
    return canBeDataFolder(name) && !(await isDeployed(this.#folders.layers, name));
  }

  /** Whether a file is the hard link that was placed. */
  async #isPlacedFile(name: string): Promise<boolean> {
    if (this.#placed !== null && !this.#placed.has(name)) return false;
    const { data, written } = this.#folders;
    const [one, other] = [await statBeneath(data, `${KEPT}/${name}`), await statBeneath(written, name)];
    return one !== null && one.ino === other?.ino && one.dev === other.dev;
  }

  async #placeFile(name: string, deployedDigest: string | undefined): Promise<string[]> {
    const { data, layers } = this.#folders;
    await using file = await openBeneath(data, `${KEPT}/${name}`);
    if (file === null) return [];
    await using original = await openDeployed(layers, name);
    const isOutdated = original !== null && deployedDigest !== (await digestOf(original));
    if (await isSqlite(file)) {
      await this.#placeLink(name);
      return isOutdated ? [describeDatabase(name)] : [];
    }
    if (isOutdated) return (await this.#replaceKept(name)) ? [describeReplaced(name)] : [];
    await using parent = await openFolderBeneath(data, path.posix.dirname(`${KEPT}/${name}`));
    if (parent !== null) await this.#placeAt(name, (to) => link(`${pathOf(parent)}/${path.posix.basename(name)}`, to));
    return [];
  }

  #placeLink(name: string): Promise<void> {
    return this.#placeAt(name, (to) => symlink(`${this.#folders.dataInside}/${KEPT}/${name}`, to));
  }

  /** No process writes to the folder of the code before the start. */
  async #placeAt(name: string, create: (to: string) => Promise<void>): Promise<void> {
    const { written } = this.#folders;
    if (!(await this.#createFolders(path.posix.dirname(name)))) return;
    const to = path.join(written, name);
    await removeTree(to);
    await create(to);
    this.#placed?.add(name);
  }

  /** Creates folders with the modes of those that were deployed. @returns whether all of them are folders */
  async #createFolders(name: string): Promise<boolean> {
    if (name === ".") return true;
    if (!(await this.#createFolders(path.posix.dirname(name)))) return false;
    const { written, layers } = this.#folders;
    const deployed = await Promise.all(layers.map((layer) => lstat(path.join(layer, name)).catch(nullIfNoPlace)));
    const first = deployed.find((status) => status !== null);
    if (first !== undefined && !first.isDirectory()) return false;
    const folder = path.join(written, name);
    await mkdir(folder, { mode: first?.mode ?? 0o755 }).catch(ignoreExisting);
    return (await lstat(folder)).isDirectory();
  }

  /** @returns whether it was moved, which a link in `/data` can prevent */
  async #move(name: string, kind: DataKind): Promise<boolean> {
    const { data, written } = this.#folders;
    const [folder, base] = [path.posix.dirname(name), path.posix.basename(name)];
    await using from = await openFolderBeneath(written, folder);
    await using to = await openFolderBeneath(data, path.posix.join(KEPT, folder), true);
    if (from === null || to === null) return false;
    const exists = (await lstat(`${pathOf(to)}/${base}`).catch(nullIfNoPlace)) !== null;
    if (kind === "folder") await removeWhiteouts(`${pathOf(from)}/${base}`);
    // Another process of the app has written it meanwhile.
    if (exists && this.#placed?.has(name) !== true) await moveFile(from, base, to, `${base}.${Date.now()}`);
    // A file may be large, and is replaced often.
    else if (!exists || kind === "file" || (await this.#replaceKept(name))) await moveFile(from, base, to, base);
    return true;
  }

  /** Whether the server has removed what was placed. In a layered folder, a device then hides what was deployed. */
  async #isRemoved(name: string): Promise<boolean> {
    const status = await lstat(path.join(this.#folders.written, name)).catch(nullIfNoPlace);
    return status === null || status.isCharacterDevice();
  }

  /** Databases and folders are moved, because the server may have renamed the link to one. */
  async #removeKept(name: string): Promise<void> {
    await using parent = await openFolderBeneath(this.#folders.data, path.posix.dirname(`${KEPT}/${name}`));
    if (parent === null) return;
    await using file = await openBeneath(this.#folders.data, `${KEPT}/${name}`);
    if (file === null || (await isSqlite(file))) await this.#replaceKept(name);
    else await rm(`${pathOf(parent)}/${path.posix.basename(name)}`, { force: true });
  }

  async #replaceKept(name: string): Promise<boolean> {
    const { data } = this.#folders;
    const [folder, base] = [path.posix.dirname(name), path.posix.basename(name)];
    await using from = await openFolderBeneath(data, path.posix.join(KEPT, folder));
    await using to = await openFolderBeneath(data, path.posix.join(REPLACED, folder), true);
    if (from === null || to === null) return false;
    await moveFile(from, base, to, base);
    return true;
  }
}

/** Moves what is between two folders, with the files of a database. It replaces what is there. */
async function moveFile(from: FileHandle, name: string, to: FileHandle, newName: string): Promise<void> {
  const [source, target] = [`${pathOf(from)}/${name}`, `${pathOf(to)}/${newName}`];
  // The database comes last: after a crash in between, it is found again.
  for (const suffix of DATABASE_SUFFIXES) await rm(target + suffix, { force: true });
  for (const suffix of DATABASE_SUFFIXES) await rename(source + suffix, target + suffix).catch(nullIfNoPlace);
  await removeTree(target);
  await rename(source, target);
}

/** Removes the devices with which a layered folder hides files of the deployment. */
async function removeWhiteouts(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isCharacterDevice()) await rm(path.join(folder, entry.name), { force: true });
}

function nullIfNoPlace(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
  throw error;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

const describeDatabase = (name: string) =>
  `The SQLite database ${JSON.stringify(name)} of this deployment is another one than before. The server uses the one that it has changed, which is ${JSON.stringify(`/data/${KEPT}/${name}`)}.`;
const describeReplaced = (name: string) =>
  `This deployment has changed the file ${JSON.stringify(name)}, so the server uses that. What the server wrote to it earlier is in ${JSON.stringify(`/data/${REPLACED}/${name}`)}.`;
