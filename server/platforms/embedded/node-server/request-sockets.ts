import { type FileHandle, lstat, mkdir, open, readdir, rename } from "node:fs/promises";
import path from "node:path";
import type { AppAddress } from "../../../ports/app-address.ts";

/**
 * The unix sockets on which a Node server listens. It creates them in a folder that it can write to, where it could put a link to
 * the socket of another program in their place. So they are moved to a folder of the service before anybody connects, and
 * only then checked.
 */
export class RequestSockets implements AsyncDisposable {
  readonly #inside: string;
  readonly #outside: string;
  readonly #handle: FileHandle;
  readonly #preferred: string;
  #count = 0;

  /** @param port - the port that the server should listen on. If it listens on others only, the first one of them is used */
  static async open(launchFolder: string, port: number): Promise<RequestSockets> {
    const [inside, outside] = [path.join(launchFolder, "app"), path.join(launchFolder, "sockets")];
    await mkdir(inside);
    await mkdir(outside, { mode: 0o700 });
    return new RequestSockets(inside, outside, await open(outside), port);
  }

  private constructor(inside: string, outside: string, handle: FileHandle, port: number) {
    this.#inside = inside;
    this.#outside = outside;
    this.#handle = handle;
    this.#preferred = `${port}.sock`;
  }

  /** The folder of the sandbox. */
  get folder(): string {
    return this.#inside;
  }

  /** Takes the newest socket; `null` if there is none. */
  async take(): Promise<AppAddress | null> {
    const names = await readdir(this.#inside);
    const name = names.includes(this.#preferred) ? this.#preferred : names.find((each) => /^\d{1,5}\.sock$/.test(each));
    if (name === undefined) return null;
    const taken = `${++this.#count}`;
    const target = path.join(this.#outside, taken);
    await rename(path.join(this.#inside, name), target);
    if (!(await lstat(target)).isSocket()) return null;
    // The path in the data folder may be longer than the path of a socket can be.
    return { socketPath: `/proc/self/fd/${this.#handle.fd}/${taken}` };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}
