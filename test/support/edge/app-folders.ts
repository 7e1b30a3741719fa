import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { KeptFiles, type ServerFolders } from "../../../server/platforms/embedded/node-server/kept-files.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/** The folders of an app. Each start has a new folder for its code, with a copy of what was deployed. */
export class AppFolders implements AsyncDisposable {
  readonly root: string;
  readonly #remove: () => Promise<void>;
  #starts = 0;

  private constructor(root: string, remove: () => Promise<void>) {
    this.root = root;
    this.#remove = remove;
  }

  static async create(): Promise<AppFolders> {
    const folder = await temporaryFolder();
    for (const name of ["layer", "data"]) await mkdir(path.join(folder.path, name));
    return new AppFolders(folder.path, async () => folder[Symbol.asyncDispose]());
  }

  layer = (name: string) => path.join(this.root, "layer", name);
  data = (name: string) => path.join(this.root, "data", name);
  /** The path of a file for the process that was started last. */
  code = (name: string) => path.join(this.root, `written-${this.#starts}`, name);

  /** Deploys or changes a file. */
  async deploy(name: string, text: string): Promise<void> {
    await mkdir(path.dirname(this.layer(name)), { recursive: true });
    await writeFile(this.layer(name), text);
  }

  /** Creates the folder of the code for the next process. */
  async prepare(): Promise<ServerFolders> {
    this.#starts++;
    await mkdir(this.code("."));
    const layers = [path.join(this.root, "uppermost"), this.layer(".")];
    return { data: this.data("."), dataInside: this.data("."), written: this.code("."), layers };
  }

  async start(): Promise<{ files: KeptFiles; notices: string[] }> {
    const files = new KeptFiles(await this.prepare());
    return { files, notices: await files.place() };
  }

  async write(name: string, text: string): Promise<void> {
    await mkdir(path.dirname(this.code(name)), { recursive: true });
    await writeFile(this.code(name), text);
  }

  /** Starts a process that does something, and ends it. Returns what it has added. */
  async run(use: () => unknown): Promise<string[]> {
    const { files } = await this.start();
    await use();
    return (await files.keep()).added.toSorted();
  }

  read = (name: string) => readFile(this.code(name), "utf8").catch(() => null);

  [Symbol.asyncDispose](): Promise<void> {
    return this.#remove();
  }
}
