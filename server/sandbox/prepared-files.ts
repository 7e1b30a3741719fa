import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { constants, statSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { Mount } from "../ports/sandbox.ts";
import { mountedFilesAndDevices } from "./bubblewrap-arguments.ts";
import { dieWithService } from "./die-with-service.ts";
import { isRunning, processTree } from "./process-tree.ts";
import type { SandboxFiles } from "./sandbox-files.ts";
import { TOOL_ENVIRONMENT } from "./system-tools.ts";

/** The folder of the own mounts in the prepared files. A sandbox covers `/tmp`. */
const OWN_MOUNTS = "/tmp/own";

/** Holds the namespaces until the standard input is closed, which the end of the service does too. */
const HOLDER = ["sh", "-c", "echo ready; read -r end"];

type Options = Pick<SandboxFiles, "programs" | "network">;

/** Prepared files that one command uses. Dispose it when the command has ended. */
export interface EnteredFiles extends Disposable {
  /** The start of the command line of a sandbox with these files, as root. `isolatedCommand` is the rest. */
  startArguments: string[];
  /** The own mounts of the command, from where the prepared files have them. */
  ownMounts: Mount[];
}

/**
 * The files that many sandboxes have in common, mounted once. A sandbox that enters them needs about 7 ms of CPU time;
 * one that mounts all files itself needs 14 ms. Only root can enter them.
 */
export class PreparedFiles implements AsyncDisposable {
  readonly #options: Options;
  /** The files for new commands, by the mounts that they contain. */
  readonly #current = new Map<string, MountedFiles>();
  readonly #mounted = new Set<MountedFiles>();

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Enters the files of a command. Commands whose shared mounts are the same, and whose own mounts have the same targets, use
   * the same files. They are mounted again when the folder of the own mounts was replaced.
   *
   * @param mounts - those that are not shared are the command's own. A file system that is mounted in their folder must be
   *   mounted before the first command enters
   * @param uid - the user of the command
   * @returns `null` for mounts that cannot be prepared: shared ones that are writable, and own mounts that are not in one
   *   folder which all users may enter, as the user of the sandbox mounts them
   * @throws when the files cannot be mounted
   */
  async enter(mounts: readonly Mount[], uid: number): Promise<EnteredFiles | null> {
    const shared = mounts.filter((mount) => mount.shared);
    const own = mounts.filter((mount) => !mount.shared);
    const [ownFolder = null, ...otherFolders] = new Set(own.map(({ from }) => path.dirname(from)));
    const stats = ownFolder === null ? null : statSync(ownFolder);
    const isOpen = stats === null || (stats.mode & constants.S_IXOTH) !== 0;
    if (!isOpen || otherFolders.length > 0 || shared.some(({ writable }) => writable)) return null;
    const targets = JSON.stringify(own.map(({ to, writable }) => [to, writable]));
    const version = JSON.stringify([shared, ownFolder, stats?.ino]);
    const current = this.#current.get(targets);
    if (current !== undefined && current.version === version && !current.hasEnded) return await current.enter(own, uid);
    current?.retire();
    const mounted = this.#mount(version, shared, own, ownFolder);
    this.#current.set(targets, mounted);
    return await mounted.enter(own, uid);
  }

  #mount(version: string, shared: Mount[], own: Mount[], ownFolder: string | null): MountedFiles {
    const writable = own.some((mount) => mount.writable);
    const folder = ownFolder === null ? [] : [{ from: ownFolder, to: OWN_MOUNTS, writable }];
    const mountPoints = own.map(({ to }) => to);
    const mounted = new MountedFiles(version, { ...this.#options, mounts: [...shared, ...folder], mountPoints });
    this.#mounted.add(mounted);
    void mounted.ended.then(() => this.#mounted.delete(mounted));
    return mounted;
  }

  /** Ends all sandboxes that use the files. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#mounted].map((mounted) => mounted.end()));
  }
}

/** A process that holds a mount namespace with files, and a pid namespace for the sandboxes that enter it. */
class MountedFiles {
  readonly version: string;
  readonly ended: Promise<void>;
  #hasEnded = false;
  #holder: number | null = null;
  readonly #child: ChildProcess;
  readonly #ready: Promise<number>;
  #users = 0;
  #isRetired = false;

  constructor(version: string, files: SandboxFiles) {
    this.version = version;
    const [program = "", ...programArguments] = [...dieWithService(), ...mountedFilesAndDevices(files), ...HOLDER];
    this.#child = spawn(program, programArguments, { cwd: "/", env: TOOL_ENVIRONMENT, stdio: "pipe" });
    this.#child.stdin?.on("error", () => undefined);
    this.ended = this.#waitUntilEnded();
    this.#ready = this.#waitUntilReady();
    // Each caller of `enter` receives the error.
    this.#ready.catch(() => undefined);
  }

  /** Whether the process has ended. It may have been killed a moment ago, before its parent was told. */
  get hasEnded(): boolean {
    return this.#hasEnded || (this.#holder !== null && !isRunning(this.#holder));
  }

  async enter(own: readonly Mount[], uid: number): Promise<EnteredFiles> {
    this.#users++;
    const leave = () => {
      this.#users--;
      if (this.#isRetired && this.#users === 0) void this.end();
    };
    try {
      const pid = await this.#ready;
      const namespaces = [`--mount=/proc/${pid}/ns/mnt`, `--pid=/proc/${pid}/ns/pid`];
      const ownMounts = own.map((mount) => ({ ...mount, from: `${OWN_MOUNTS}/${path.basename(mount.from)}` }));
      // Nothing in these files can give the user more rights: bubblewrap mounts them without set-user-id programs.
      const user = [`--setuid=${uid}`, `--setgid=${uid}`];
      return { startArguments: ["nsenter", ...namespaces, ...user, "--"], ownMounts, [Symbol.dispose]: leave };
    } catch (error) {
      leave();
      throw error;
    }
  }

  /** Ends the process when no command uses the files any more. */
  retire(): void {
    this.#isRetired = true;
    if (this.#users === 0) void this.end();
  }

  async end(): Promise<void> {
    this.#child.stdin?.end();
    await this.ended;
  }

  async #waitUntilEnded(): Promise<void> {
    // `once` rejects when the process could not be started.
    await once(this.#child, "close").catch(() => undefined);
    this.#hasEnded = true;
  }

  /** Returns the id of the process whose namespaces contain the files: bubblewrap starts it last. */
  async #waitUntilReady(): Promise<number> {
    const { pid, stdout, stderr } = this.#child;
    const message = stderr === null ? "" : text(stderr);
    const isReady = stdout === null ? false : await Promise.race([once(stdout, "data"), this.ended.then(() => false)]);
    const holder = pid === undefined || !isReady ? undefined : processTree(pid).at(-1);
    if (holder === undefined) throw new Error(`The files of sandboxes could not be mounted: ${await message}`);
    this.#holder = holder;
    return holder;
  }
}
