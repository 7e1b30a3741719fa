import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { bubblewrapCommandLine } from "./bubblewrap-arguments.ts";
import { type ControlGroups, NO_GROUPS } from "./cgroups/control-groups.ts";
import { placeInGroup, type Placement } from "./cgroups/placement.ts";
import { changeOwner, foldersOfOthers, isRoot, ownerOf } from "./file-ownership.ts";
import { killProcess, killSandbox, signalIfExists } from "./kill-process.ts";
import { cpuMs, processTree, residentMb } from "./process-tree.ts";
import { limitArguments, type ResourceLimits } from "./resource-limits.ts";
import { systemCallFilter } from "./system-calls/system-call-filter.ts";
import { findTool, TOOL_ENVIRONMENT } from "./system-tools.ts";
import { UidPool } from "./uid-pool.ts";
import { PREFER_FOR_OOM_KILL } from "./write-before-start.ts";

/** The program to start in place of the binary, with the environment of a `LaunchedProcess`. */
export const LAUNCH_SCRIPT = fileURLToPath(new URL("./launch-process.sh", import.meta.url));

/** The launch script opens the file `system-call-filter` with this descriptor. workerd uses those up to 3. */
const FILTER_DESCRIPTOR = 9;
const TEMPORARY_MB = 64;

export interface LaunchRequest {
  /** An empty folder for this launch, which must exist as long as the process. */
  folder: string;
  /** The binary on the host. Whoever starts the process adds the arguments. */
  binaryPath: string;
  env: Readonly<Record<string, string>>;
  /** Folders of the host that are visible inside, at the same paths. Nothing but sandboxes may write to writable ones. */
  writableFolders: readonly string[];
  readOnlyFolders: readonly string[];
  limits: Required<ResourceLimits> & {
    /** All memory of the process and its sandbox, where a control group can limit it. */
    memoryMb: number;
  };
}

/**
 * Prepares sandboxes for processes of workerd. Such a process has the network of the host, because it listens on a port there and
 * limits outbound connections itself.
 *
 * When the service runs as root, each process has its own user id, which becomes the owner of the writable folders.
 */
export class ProcessLauncher {
  readonly #isIsolated: boolean;
  readonly #groups: ControlGroups;
  readonly #uids: UidPool | null;

  /**
   * @param sandbox - `none` only by explicit choice: processes then run as our own user and can access all its files
   * @param groups - the groups through which the kernel limits processes
   */
  constructor(sandbox: "bubblewrap" | "none", groups: ControlGroups = NO_GROUPS) {
    this.#isIsolated = sandbox === "bubblewrap";
    this.#groups = groups;
    this.#uids = this.#isIsolated && isRoot() ? new UidPool("apps") : null;
  }

  /** Prepares one process. No two running processes may have a writable folder in common. */
  async prepare(request: LaunchRequest): Promise<LaunchedProcess> {
    const { folder, writableFolders, limits } = request;
    await using preparing = new AsyncDisposableStack();
    const placement = preparing.use(placeInGroup(this.#groups, "apps", limits));
    const acquired = (await this.#uids?.acquire(await ownerOf(writableFolders[0]))) ?? null;
    if (acquired) {
      preparing.defer(() => acquired.release());
      await changeOwner(await foldersOfOthers(writableFolders, acquired.uid), acquired.uid);
    }
    if (this.#isIsolated) await writeFile(path.join(folder, "system-call-filter"), systemCallFilter());
    const commandLine = this.#commandLine(request, placement, acquired?.uid ?? null);
    await writeCommandLine(folder, commandLine);
    return new LaunchedProcess(folder, placement, preparing.move(), this.#isIsolated);
  }

  #commandLine(request: LaunchRequest, placement: Placement, uid: number | null): string[] {
    if (!this.#isIsolated) return [...placement.startArguments(), ...unconfinedCommandLine(request)];
    // The process may be started with the environment of the service. bwrap --clearenv would leave it readable in
    // /proc/1/environ of the sandbox; env -i does not.
    const tools = Object.entries(TOOL_ENVIRONMENT).map(([name, value]) => `${name}=${value}`);
    return [
      "env",
      "-i",
      ...tools,
      ...placement.startArguments([PREFER_FOR_OOM_KILL]),
      ...sandboxCommandLine(request, uid),
    ];
  }
}

function sandboxCommandLine(request: LaunchRequest, uid: number | null): string[] {
  const { binaryPath, env, writableFolders, readOnlyFolders, limits } = request;
  const binary = `/opt/sandbox/${path.basename(binaryPath)}`;
  const prlimit = findTool("prlimit");
  if (prlimit === null) throw new Error("The sandbox needs prlimit. Install util-linux.");
  const variables = Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]);
  const layout = {
    // Untrusted code in an app starts no programs, so it sees fewer files than a command.
    programs: "libraries",
    network: "host",
    mounts: [
      { from: binaryPath, to: binary, writable: false },
      ...writableFolders.map((folder) => ({ from: folder, to: folder, writable: true })),
      ...readOnlyFolders.map((folder) => ({ from: folder, to: folder, writable: false })),
    ],
    temporaryMb: TEMPORARY_MB,
    filterDescriptor: FILTER_DESCRIPTOR,
    // An init of bubblewrap would exit after its parent, and remain as a zombie if the host's init does not reap it.
    options: ["--as-pid-1", "--clearenv", ...variables],
    cwd: "/",
    argv: [prlimit, ...limitArguments(limits), binary],
  } as const;
  return bubblewrapCommandLine(layout, uid);
}

/** The limit on processes is not set: it would count all processes of our user. Other systems lack these tools. */
function unconfinedCommandLine({ binaryPath, env, limits }: LaunchRequest): string[] {
  const { processes: _, ...ownLimits } = limits;
  const tools = [
    ["choom", "--adjust", "1000", "--"],
    ["prlimit", ...limitArguments(ownLimits)],
    ["setpriv", "--pdeathsig", "KILL", "--"],
  ];
  const installed = tools.filter(([name]) => name !== undefined && findTool(name) !== null).flat();
  return [...installed, "env", "-i", ...Object.entries(env).map(([name, value]) => `${name}=${value}`), binaryPath];
}

async function writeCommandLine(folder: string, argv: readonly string[]): Promise<void> {
  const broken = argv.find((argument) => argument.includes("\n"));
  if (broken !== undefined) throw new Error(`A path in a sandbox contains a line break: ${JSON.stringify(broken)}`);
  await writeFile(path.join(folder, "command-line"), argv.map((argument) => `${argument}\n`).join(""));
}

/** A process that is started in a prepared sandbox, at most once. */
export class LaunchedProcess {
  /** The environment variables for `LAUNCH_SCRIPT`. */
  readonly environment: Readonly<Record<string, string>>;
  readonly #pidFile: string;
  readonly #placement: Placement;
  readonly #resources: AsyncDisposable;
  readonly #isIsolated: boolean;

  /** @param resources - everything to release when the process has ended */
  constructor(folder: string, placement: Placement, resources: AsyncDisposable, isIsolated: boolean) {
    this.environment = { LAUNCH_FOLDER: folder };
    this.#pidFile = path.join(folder, "pid");
    this.#placement = placement;
    this.#resources = resources;
    this.#isIsolated = isIsolated;
  }

  /** Whether the process has reached the limit of its control group on memory. */
  hasExceededMemory(): boolean {
    return this.#placement.hasExceededMemory();
  }

  /** The resident memory of the process and its sandbox, in MiB; 0 if it does not run. */
  async residentMb(): Promise<number> {
    const pid = await this.#readPid();
    return pid === null ? 0 : residentMb(pid);
  }

  /** The CPU time that the process and its sandbox have used, in milliseconds; 0 if it does not run. */
  async cpuMs(): Promise<number> {
    const pid = await this.#readPid();
    return pid === null ? 0 : cpuMs(processTree(pid));
  }

  /**
   * Kills the process with its sandbox, and prevents a start in the future. Returns when all its files are closed.
   *
   * @param hasExited - whether the process is known to have exited, so that its pid may belong to another process
   */
  async kill(hasExited: () => boolean): Promise<void> {
    const pid = await this.#preventStart();
    if (pid !== null) await (this.#isIsolated ? killSandbox : killProcess)(pid, hasExited);
  }

  /** Asks the process to end, with SIGTERM. Does nothing if it does not run. It must have started no other processes. */
  async terminate(): Promise<void> {
    const started = await this.#readPid();
    // What comes before it in the tree are the processes of the sandbox.
    const pid = started === null ? undefined : processTree(started).at(-1);
    if (pid !== undefined) signalIfExists(pid, "SIGTERM");
  }

  /** Releases the user id and the control group. Call it when the process has ended. */
  async release(): Promise<void> {
    await this.#resources[Symbol.asyncDispose]();
  }

  /** Returns the pid of the process, or `null` if it has not started; then the launch script finds the file and exits. */
  async #preventStart(): Promise<number | null> {
    try {
      await writeFile(this.#pidFile, "", { flag: "wx" });
      return null;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    // The script creates the file and writes to it in two steps.
    for (let attempt = 0; attempt < 50; attempt++) {
      const pid = await this.#readPid();
      if (pid !== null) return pid;
      await sleep(2);
    }
    return null;
  }

  async #readPid(): Promise<number | null> {
    const pid = Number(await readFile(this.#pidFile, "utf8").catch(() => ""));
    return pid > 0 ? pid : null;
  }
}
