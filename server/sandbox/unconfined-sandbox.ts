import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sandbox, SandboxCommand, SandboxOutcome } from "../ports/sandbox.ts";
import { type ControlGroups, NO_GROUPS } from "./cgroups/control-groups.ts";
import { groupLimits } from "./cgroups/group-limits.ts";
import { placeInGroup, type Placement } from "./cgroups/placement.ts";
import { restoreAccess, writableFolders } from "./file-ownership.ts";
import { killIfExists } from "./kill-process.ts";
import { LoopbackPorts } from "./loopback-ports.ts";
import { monitorProcess } from "./monitor-process.ts";
import { limitArguments } from "./resource-limits.ts";
import { proxyVariables, SANDBOX_NODE } from "./sandbox-environment.ts";
import { exitOf } from "./start-process.ts";
import { terminateProcesses } from "./terminate-processes.ts";

export interface UnconfinedOptions {
  /** The Node.js that commands find as `SANDBOX_NODE`. */
  nodePath?: string;
  /** See `BubblewrapOptions`. */
  groups?: ControlGroups;
}

/**
 * Runs commands as plain children of the service, with all its rights: for hosts without namespaces, and for operators
 * who trust every repository that they deploy. It enforces the limits on time, memory, disk, file size and output, but
 * not those on processes, files and network. A command survives a service that is killed.
 *
 * Nothing is mounted. Paths inside the sandbox become paths of the host in the command, its environment and its folder.
 */
export class UnconfinedSandbox implements Sandbox {
  readonly hasOwnNetwork = false;
  readonly #nodePath: string;
  readonly #groups: ControlGroups;

  constructor({ nodePath = process.execPath, groups = NO_GROUPS }: UnconfinedOptions = {}) {
    this.#nodePath = nodePath;
    this.#groups = groups;
  }

  async run(command: SandboxCommand): Promise<SandboxOutcome> {
    if (command.signal.aborted) return { reason: "aborted" };
    using ports = new LoopbackPorts();
    await ports.openOnHost(command.loopbackPorts ?? []);
    const bridge = command.network.kind === "proxy" ? await openBridge(command.network.socketPath) : null;
    try {
      await using placement = placeInGroup(this.#groups, "builds", await groupLimits(command));
      return await runChild(commandOnHost(command, this.#nodePath, bridge), placement);
    } finally {
      bridge?.close();
    }
  }
}

/** The same command with paths of the host. */
function commandOnHost(command: SandboxCommand, nodePath: string, bridge: Server | null): SandboxCommand {
  const toHost = toHostPaths([{ from: dirname(nodePath), to: dirname(SANDBOX_NODE) }, ...command.mounts]);
  const proxy = bridge ? proxyVariables(`http://127.0.0.1:${(bridge.address() as AddressInfo).port}`) : {};
  const env = Object.entries({ ...command.env, ...proxy }).map(([name, value]) => [name, toHost(value)]);
  const [program, ...programArguments] = command.argv;
  return {
    ...command,
    argv: [toHost(program), ...programArguments.map(toHost)],
    cwd: toHost(command.cwd),
    env: Object.fromEntries(env),
  };
}

async function runChild(command: SandboxCommand, placement: Placement): Promise<SandboxOutcome> {
  const runId = randomUUID();
  const limits = ["prlimit", ...limitArguments({ fileSizeMb: command.limits.fileSizeMb })];
  const hasSeparateErrors = command.onErrorOutput !== undefined;
  // The shell joins standard output and standard error in the order they are written.
  const child = spawn(
    "/bin/sh",
    [
      "-c",
      `exec "$@"${hasSeparateErrors ? "" : " 2>&1"}`,
      "sh",
      ...placement.startArguments(),
      ...limits,
      ...command.argv,
    ],
    {
      cwd: command.cwd,
      env: { ...command.env, ...processMark(runId) },
      stdio: ["ignore", "pipe", hasSeparateErrors ? "pipe" : "ignore"],
      detached: true,
    },
  );
  const { killReason, code, signal } = await monitorProcess(
    {
      pid: child.pid,
      exit: exitOf(child),
      output: child.stdout,
      errors: child.stderr,
      messages: null,
      kill: () => child.pid !== undefined && killIfExists(-child.pid),
      terminate: () => (child.pid === undefined ? [] : terminateProcesses(child.pid)),
      placement,
      cleanUp: async () => {
        await killMarked(runId);
        await restoreAccess(writableFolders(command));
      },
    },
    command,
  );
  if (killReason) return { reason: killReason };
  return signal === null ? { reason: "exit", code: code ?? 0 } : { reason: "signal", signal };
}

/** Programs reach a proxy by TCP only, so a port of this host forwards to the socket while the command runs. */
async function openBridge(socketPath: string): Promise<Server> {
  const bridge = createServer((inside) => {
    const outside = connect(socketPath);
    inside.pipe(outside).pipe(inside);
    inside.on("error", () => outside.destroy());
    outside.on("error", () => inside.destroy());
  });
  await once(bridge.listen(0, "127.0.0.1"), "listening");
  return bridge;
}

const VARIABLE = "SANDBOX_RUN";
const KILL_TIMEOUT_MS = 5000;

/** The environment variable that marks a command as part of a run. All processes that it starts inherit the mark. */
function processMark(runId: string): Record<string, string> {
  return { [VARIABLE]: runId };
}

/**
 * Kills all processes with the mark of a run, including daemons that left the process group. Returns when none exists.
 *
 * @throws when a process still exists after 5 s
 */
async function killMarked(runId: string): Promise<void> {
  const deadline = Date.now() + KILL_TIMEOUT_MS;
  for (;;) {
    const pids = await markedProcesses(runId);
    if (pids.length === 0) return;
    if (Date.now() > deadline) throw new Error("A process of a killed command still exists");
    for (const pid of pids) killIfExists(pid);
    await sleep(5);
  }
}

async function markedProcesses(runId: string): Promise<number[]> {
  const pids = (await readdir("/proc")).map(Number).filter((pid) => pid > 0);
  const marked = await Promise.all(pids.map((pid) => hasMark(pid, runId)));
  return pids.filter((_, index) => marked[index]);
}

/** False for a zombie: it has no environment any more. */
async function hasMark(pid: number, runId: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return environment.split("\0").includes(`${VARIABLE}=${runId}`);
}

interface PathMapping {
  from: string;
  to: string;
}

/**
 * Translates text with paths inside a sandbox to paths of the host. Every path at or below the `to` of a mapping
 * becomes the path at or below its `from`, anywhere in the text.
 */
function toHostPaths(mappings: readonly PathMapping[]): (text: string) => string {
  // The longest first, because a mapping below another one is more specific.
  const ordered = mappings.toSorted((a, b) => b.to.length - a.to.length);
  const inside = ordered.map((mapping) => RegExp.escape(mapping.to)).join("|");
  const pattern = new RegExp(`(?<=^|[^\\w./-]|file://)(?:${inside})(?![\\w.-])`, "g");
  const hostPathByInside = new Map(ordered.map((mapping) => [mapping.to, mapping.from]));
  return (text) => text.replace(pattern, (path) => hostPathByInside.get(path) ?? path);
}
