import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { changeOwner, foldersOfOthers, isRoot } from "../../sandbox/file-ownership.ts";
import { TOOL_ENVIRONMENT } from "../../sandbox/system-tools.ts";
import { POSTGRES_UIDS } from "../../sandbox/uid-pool.ts";
import { DatabaseUnavailable } from "../database-unavailable.ts";

const SCRIPT = path.join(import.meta.dirname, "run-postgres.sh");
/** The folder at which PostgreSQL's folders are mounted when the service runs as root. */
const MOUNT_POINT = "/mnt";
const OUTPUT_LINES = 10;

export interface LauncherOptions {
  /** Whose data the server has: that of the service, or that of apps. They have different users on a host where we are root. */
  owner?: keyof typeof POSTGRES_UIDS;
  /** Writable private memory of each process, in MiB; not limited without it. PostgreSQL reports an error when it is exceeded. */
  dataMb?: number;
  /** Called after the start of each program. */
  onLaunch?: () => void;
}

export interface LaunchedProgram {
  child: ChildProcess;
  /** Settles when the program has ended or could not be started. Never rejects. */
  ended: Promise<ProgramEnd>;
}

export interface ProgramEnd {
  /** `null` when a signal ended the program. */
  code: number | null;
  /** How it ended, with the last lines that it printed. */
  reason: string;
}

/** Starts programs of PostgreSQL that end with the service, however the service ends. */
export class PostgresLauncher {
  readonly #native: string;
  readonly #root: string;
  readonly #uid: number | null;
  readonly #limits: readonly string[];
  readonly #onLaunch: () => void;

  /**
   * @param native - the folder of PostgreSQL's `bin`, `lib` and `share`
   * @param root - the folder of the database; the launcher keeps `run`, and `mounts` for root, in it
   */
  constructor(native: string, root: string, { owner = "service", dataMb, onLaunch = () => {} }: LauncherOptions = {}) {
    this.#native = native;
    this.#root = root;
    this.#onLaunch = onLaunch;
    this.#limits = dataMb === undefined ? [] : ["prlimit", `--data=${dataMb * 1024 * 1024}`];
    this.#uid = isRoot() ? POSTGRES_UIDS[owner] : null;
  }

  /** The folder of the socket. */
  get socketFolder(): string {
    return path.join(this.#root, "run");
  }

  /**
   * Starts `program` on the data folder `data`. Everything that the program needs is in folders that only the service
   * and PostgreSQL can enter.
   *
   * @param onLine - receives each line that the program prints
   */
  async start(
    program: "initdb" | "postgres",
    data: string,
    args: readonly string[],
    onLine: (line: string) => void = () => undefined,
  ): Promise<LaunchedProgram> {
    await this.#prepareFolders(data);
    const [command = "", ...rest] = this.#commandLine(program, data, args);
    const child = spawn(command, rest, {
      cwd: "/",
      // Only what PostgreSQL needs: the service's environment contains secrets.
      env: { ...TOOL_ENVIRONMENT, LC_ALL: "C" },
      stdio: ["ignore", "pipe", "pipe"],
      // A separate session, so that Ctrl-C in the terminal does not reach it: the service stops it last.
      detached: true,
    });
    this.#onLaunch();
    return { child, ended: endOf(child, program, onLine) };
  }

  #commandLine(program: string, data: string, args: readonly string[]): string[] {
    const endWithService = [...this.#limits, "setpriv", "--pdeathsig", "QUIT", "--"];
    const script = ["sh", SCRIPT, String(process.pid)];
    if (this.#uid === null)
      return [...endWithService, ...script, path.join(this.#native, "bin", program), "-D", data, ...args];
    const privateMounts = ["unshare", "--mount", "--propagation", "private", "--"];
    const mounts = ["--as", String(this.#uid), path.join(this.#root, "mounts"), this.#native, data, this.socketFolder];
    const inside = [`${MOUNT_POINT}/postgres/bin/${program}`, "-D", `${MOUNT_POINT}/data`, ...args];
    return [...endWithService, ...privateMounts, ...script, ...mounts, ...inside];
  }

  async #prepareFolders(data: string): Promise<void> {
    const folders = [data, this.socketFolder];
    for (const folder of folders) mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (this.#uid === null) return;
    for (const name of ["postgres", "data", "run"])
      mkdirSync(path.join(this.#root, "mounts", name), { recursive: true, mode: 0o755 });
    writeFileSync(path.join(this.#root, "mounts", "passwd"), `service:x:${this.#uid}:${this.#uid}::/:/bin/false\n`);
    await changeOwner(await foldersOfOthers(folders, this.#uid), this.#uid);
  }
}

async function endOf(child: ChildProcess, program: string, onLine: (line: string) => void): Promise<ProgramEnd> {
  const lastLines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    if (stream !== null)
      createInterface({ input: stream }).on("line", (line) => {
        onLine(line);
        lastLines.push(line);
        if (lastLines.length > OUTPUT_LINES) lastLines.shift();
      });
  return new Promise((resolve) => {
    child.once("error", (error) =>
      resolve({ code: null, reason: `${program} could not be started: ${error.message}` }),
    );
    child.once("close", (code, signal) => {
      const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
      resolve({ code, reason: [`${program} ended ${how}`, ...lastLines].join("\n") });
    });
  });
}

/** Returns the error for a program that ended unexpectedly. For known causes, the message says what to do. */
export function startFailure(reason: string): DatabaseUnavailable {
  if (reason.includes("could not look up effective user ID"))
    return new DatabaseUnavailable(
      `The embedded PostgreSQL needs an entry for user id ${process.getuid?.()} in /etc/passwd. Add one, or set DATABASE_URL.`,
    );
  if (/unshare failed|mount: .{0,500}(denied|not permitted)/.test(reason))
    return new DatabaseUnavailable(
      `PostgreSQL refuses to run as root, and this service, which runs as root, may not mount folders to run it as another user. Start the service as another user, or set DATABASE_URL.\n${reason}`,
    );
  return new DatabaseUnavailable(`The embedded PostgreSQL did not start: ${reason}`);
}
