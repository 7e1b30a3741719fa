import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { replaceFile } from "../../../files/durable-files.ts";
import { nullIfMissing } from "../../../files/missing-file.ts";

const SUFFIX = ".json";

/** The folders of a server on the host. */
export interface ServerFolders {
  /** What is `/data` inside. */
  data: string;
  /** The folder with what the server has written beside `/data`, and possibly the rest of its files. */
  written: string;
  /** The folders with what was deployed, the uppermost first. */
  layers: readonly string[];
}

/** The folders of servers that run, in files that no app can see. After a crash of the service, they say what is to be kept. */
export class LaunchRecords {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async write(id: string, folders: ServerFolders): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await replaceFile(this.#fileOf(id), JSON.stringify(folders));
  }

  async remove(id: string): Promise<void> {
    await rm(this.#fileOf(id), { force: true });
  }

  /**
   * Keeps the files of servers that were killed with the service, as at their end. No process may be using their folders.
   *
   * @param report - gets the error of a server whose files cannot be kept
   */
  async keepAll(keep: (folders: ServerFolders) => Promise<void>, report: (error: unknown) => void): Promise<void> {
    const names = (await readdir(this.#folder).catch(nullIfMissing)) ?? [];
    const keepOne = async (name: string) => {
      const file = path.join(this.#folder, name);
      if (name.endsWith(SUFFIX)) await keep(JSON.parse(await readFile(file, "utf8")) as ServerFolders);
      await rm(file, { force: true });
    };
    await Promise.all(names.map((name) => keepOne(name).catch(report)));
  }

  #fileOf = (id: string): string => path.join(this.#folder, `${id}${SUFFIX}`);
}
