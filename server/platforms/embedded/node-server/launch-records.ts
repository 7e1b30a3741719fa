import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { replaceFile } from "../../../files/durable-files.ts";
import { nullIfMissing } from "../../../files/missing-file.ts";
import type { Sandbox } from "../../../ports/sandbox.ts";
import { keepFiles, type ServerFolders } from "./kept-files.ts";

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
  async keepAll(sandbox: Sandbox, report: (error: unknown) => void): Promise<void> {
    for (const name of (await readdir(this.#folder).catch(nullIfMissing)) ?? [])
      try {
        const file = path.join(this.#folder, name);
        if (name.endsWith(SUFFIX))
          await keepFiles(sandbox, JSON.parse(await readFile(file, "utf8")) as ServerFolders, undefined);
        await rm(file, { force: true });
      } catch (error) {
        report(error);
      }
  }

  #fileOf = (id: string): string => path.join(this.#folder, `${id}${SUFFIX}`);
}

const SUFFIX = ".json";
