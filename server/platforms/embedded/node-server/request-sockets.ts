import { watch } from "node:fs";
import { type FileHandle, lstat, mkdir, open, opendir, rename, rm, writeFile } from "node:fs/promises";
import net from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { nullIfMissing } from "../../../files/missing-file.ts";
import type { AppAddress } from "../../../ports/app-address.ts";

/** Of a port that the program chose. */
const NAMED_PORT = /^\d{1,5}\.sock$/;
/** Of a port that the system chose. */
const ANY_PORT = /^any-\d{1,5}\.sock$/;
/**
 * How long a port that the system chose is not used. Servers such as those of Next.js 13 have processes that listen on such ports
 * for each other, before the server itself listens.
 */
const ANY_PORT_DELAY_MS = 5000;
/** A server listens on few ports, and can create any number of other files in the folder. */
const MAX_ENTRIES = 1000;

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
  /** The names of the sockets that were taken last, the newest first. */
  #taken: string[] = [];
  /** Whether the socket that was taken last is of a port that the system chose. */
  #hasAnyPort = false;
  /** Since when there has been no better socket than one of a port that the system chose. */
  #anyPortAt: number | null = null;

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

  /**
   * Takes a socket of a server that is not reachable: that of the port that it should listen on, else of another port. A port that
   * the system chose is used when there has been no other one for some time.
   *
   * @returns `null` if there is none
   */
  async take(): Promise<AppAddress | null> {
    const preferred = await this.#takeOut(this.#preferred);
    if (preferred !== null) return preferred;
    const names = await this.#list();
    const named = await this.#takeFirst(names, NAMED_PORT);
    if (named !== null) return named;
    if (!names.some((name) => ANY_PORT.test(name))) {
      this.#anyPortAt = null;
      return null;
    }
    this.#anyPortAt ??= performance.now();
    if (performance.now() - this.#anyPortAt < ANY_PORT_DELAY_MS) return null;
    const address = await this.#takeFirst(names, ANY_PORT);
    // A process that was killed leaves its socket, on which nothing listens.
    return address !== null && (await accepts(address)) ? address : null;
  }

  /**
   * Takes a better socket than that of the last call: a server can listen on the port that it should listen on after another one,
   * and on any port after one that the system chose.
   */
  async takeBetter(): Promise<AppAddress | null> {
    const preferred = await this.#takeOut(this.#preferred);
    if (preferred !== null || !this.#hasAnyPort) return preferred;
    return this.#takeFirst(await this.#list(), NAMED_PORT);
  }

  async #list(): Promise<string[]> {
    const names: string[] = [];
    await using folder = await opendir(this.#inside).catch(nullIfMissing);
    if (folder === null) return names;
    for (let read = 0; read < MAX_ENTRIES; read++) {
      const entry = await folder.read();
      if (entry === null) break;
      if (NAMED_PORT.test(entry.name) || ANY_PORT.test(entry.name)) names.push(entry.name);
    }
    return names;
  }

  async #takeFirst(names: readonly string[], kind: RegExp): Promise<AppAddress | null> {
    const name = names.find((each) => kind.test(each));
    return name === undefined ? null : this.#takeOut(name);
  }

  async #takeOut(name: string): Promise<AppAddress | null> {
    const source = path.join(this.#inside, name);
    if ((await lstat(source).catch(nullIfMissing)) === null) return null;
    const taken = `${++this.#count}`;
    const target = path.join(this.#outside, taken);
    // A folder cannot replace a file. Moved here, the server could still write to it, and replace what is in it during a removal.
    await writeFile(target, "");
    const isMoved = await rename(source, target).then(() => true, falseIfNone);
    if (!isMoved || !(await lstat(target)).isSocket()) {
      await rm(target);
      return null;
    }
    // A request may be about to connect to the one before.
    for (const each of this.#taken.slice(1)) await rm(path.join(this.#outside, each), { force: true });
    this.#taken = [taken, ...this.#taken.slice(0, 1)];
    this.#hasAnyPort = ANY_PORT.test(name);
    this.#anyPortAt = null;
    // The path in the data folder may be longer than the path of a socket can be.
    return { socketPath: `/proc/self/fd/${this.#handle.fd}/${taken}` };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }
}

/** The server has removed the socket, or it is a folder. */
function falseIfNone(error: NodeJS.ErrnoException): false {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return false;
  throw error;
}

/** A file system that reports no changes is read this often. */
const POLL_MS = 500;
/** A server that creates files all the time does not keep the service busy. */
const PAUSE_MS = 5;
/** How long a server may take to end a connection that has sent nothing. */
const END_MS = 5000;

/** Waits for the first socket of a server. */
export async function untilSocket(sockets: RequestSockets, signal: AbortSignal): Promise<AppAddress> {
  let changed = Promise.withResolvers<void>();
  const watcher = watch(sockets.folder, { signal }, () => changed.resolve());
  watcher.on("error", () => changed.resolve());
  for (;;) {
    signal.throwIfAborted();
    changed = Promise.withResolvers<void>();
    const address = await sockets.take();
    if (address !== null) {
      watcher.close();
      return address;
    }
    await Promise.race([changed.promise, sleep(POLL_MS, null, { signal }).catch(() => {})]);
    await sleep(PAUSE_MS);
  }
}

/** Whether something listens. The connection ends as one of a client does, because an error of a connection can end a server. */
function accepts(address: AppAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect("socketPath" in address ? { path: address.socketPath } : address, () => {
      resolve(true);
      socket.end();
    });
    socket.resume();
    socket.setTimeout(END_MS, () => socket.destroy());
    socket.on("error", () => resolve(false));
  });
}
