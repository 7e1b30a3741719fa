import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import type { KeepReport } from "../../../server/platforms/embedded/node-server/inside/kept-files/keep-files.ts";
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

  /** Starts a process. Returns what is printed. */
  async start(): Promise<string> {
    this.#starts++;
    await cp(this.layer("."), this.code("."), { recursive: true, preserveTimestamps: true });
    if (!existsSync(this.data("beside-code"))) return "";
    return (await runProgram("place-files.ts", [this.code("."), this.data("."), "--new"])).trim();
  }

  /** Keeps what the process wrote that was started last. */
  async keep(start = this.#starts): Promise<KeepReport> {
    const folders = [path.join(this.root, `written-${start}`), this.data("."), this.layer(".")];
    return JSON.parse(await runProgram("keep-files.ts", folders)) as KeepReport;
  }

  async write(name: string, text: string): Promise<void> {
    await mkdir(path.dirname(this.code(name)), { recursive: true });
    await writeFile(this.code(name), text);
  }

  /** Starts a process that does something, and ends it. Returns what it has added. */
  async run(use: () => unknown): Promise<string[]> {
    await this.start();
    await use();
    return (await this.keep()).added.toSorted();
  }

  read = (name: string) => readFile(this.code(name), "utf8").catch(() => null);

  [Symbol.asyncDispose](): Promise<void> {
    return this.#remove();
  }
}

const PROGRAMS = path.resolve(import.meta.dirname, "../../../server/platforms/embedded/node-server/inside/kept-files");

/** Runs a program as in a sandbox. Returns what it prints. */
async function runProgram(name: string, programArguments: readonly string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    path.join(PROGRAMS, name),
    ...programArguments,
  ]);
  return stderr + stdout;
}
