import { constants } from "node:os";
import type { Duplex } from "node:stream";
import type { Sandbox, SandboxCommand, SandboxOutcome } from "../ports/sandbox.ts";
import { bubblewrapCommandLine, isolatedCommand } from "./bubblewrap-arguments.ts";
import { BubblewrapStatus } from "./bubblewrap-status.ts";
import {
  commandLayout,
  type CommandSandboxOptions,
  directLayout,
  environmentOptions,
  ERRORS_DESCRIPTOR,
  FILTER_DESCRIPTOR,
  OPTIONS_DESCRIPTOR,
  START_DESCRIPTORS,
  type StartMode,
} from "./command-layout.ts";
import { type ControlGroups, NO_GROUPS } from "./cgroups/control-groups.ts";
import { groupLimits } from "./cgroups/group-limits.ts";
import { placeInGroup, type Placement } from "./cgroups/placement.ts";
import {
  changeOwner,
  foldersOfOthers,
  isRoot,
  keptFolders,
  ownerOf,
  restoreAccess,
  writableFolders,
} from "./file-ownership.ts";
import { killProcessesOf } from "./kill-process.ts";
import { LoopbackPorts } from "./loopback-ports.ts";
import { monitorProcess } from "./monitor-process.ts";
import { PreparedFiles } from "./prepared-files.ts";
import { shellLimits } from "./resource-limits.ts";
import { startChild, type StartedProcess, type StartProcess } from "./start-process.ts";
import { systemCallFilter } from "./system-calls/system-call-filter.ts";
import { type SandboxKind, UidPool } from "./uid-pool.ts";
import { PREFER_FOR_OOM_KILL } from "./write-before-start.ts";

const MAX_MESSAGE_LENGTH = 4096;

/** The exit code of a command that does not exist, as in a shell. */
const NOT_FOUND = 127;

export interface BubblewrapOptions {
  /** The Node.js that commands find inside as `SANDBOX_NODE`; `null` for none. */
  nodePath?: string | null;
  /** The visible part of the host's `/usr`. See `SandboxFiles`. */
  programs?: "all" | "tools";
  /** The size of `/tmp`, and of `/dev/shm`, inside. */
  temporaryMb?: number;
  /** What the commands are. It determines their user ids when the service runs as root, and their share of the processor. */
  kind?: SandboxKind;
  /** The groups through which the kernel limits commands. Without them, only the service measures their memory. */
  groups?: ControlGroups;
  /**
   * Mounts shared files once, for commands that start often. It has an effect only when the service runs as root, and on
   * commands without a network whose own mounts are in one folder. The sandbox must be disposed.
   */
  prepareFiles?: boolean;
  /** Starts the processes of sandboxes, by default as children of the service. */
  startProcess?: StartProcess;
}

/** A sandbox to be started. */
interface StartRequest {
  command: SandboxCommand;
  placement: Placement;
  argv: string[];
  /** See `killSandbox`. */
  initDepth: number;
  mode: StartMode;
  startProcess: StartProcess;
  /** The user id whose processes are killed when the started process is killed from outside; `null` if its end ends them. */
  killedUid: number | null;
}

/**
 * Runs commands in Linux namespaces with bubblewrap. A command sees `/usr` and its mounts. It can write to its writable
 * mounts and to a bounded `/tmp`, which contains an empty `/tmp/home`. A mount may be anywhere except below `/dev`,
 * `/proc` and other writable mounts.
 *
 * When the service runs as root, each command has its own user id, which becomes the owner of the writable mounts and
 * their content before the command starts. They keep that owner, and the next command on the same folder gets the same
 * id if it is free. So only root may rely on owning the content of a writable mount, and two running commands must not
 * share one, except a folder that keeps data: they then have the same id.
 *
 * A sandbox dies with the thread that started it, even if the service is killed.
 */
export class BubblewrapSandbox implements Sandbox, AsyncDisposable {
  readonly hasOwnNetwork = true;
  readonly canLayer = true;
  readonly #options: CommandSandboxOptions;
  readonly #kind: SandboxKind;
  readonly #groups: ControlGroups;
  readonly #uids: UidPool;
  readonly #prepared: PreparedFiles | null;
  readonly #startProcess: StartProcess;

  constructor(options: BubblewrapOptions = {}) {
    const { nodePath = process.execPath, programs = "all", temporaryMb = 512 } = options;
    const { kind = "builds", groups = NO_GROUPS, prepareFiles = false, startProcess = startChild } = options;
    this.#options = { nodePath, programs, temporaryMb };
    this.#kind = kind;
    this.#groups = groups;
    this.#uids = new UidPool(kind);
    this.#startProcess = startProcess;
    this.#prepared = prepareFiles && isRoot() ? new PreparedFiles({ programs, network: "none" }) : null;
  }

  async run(command: SandboxCommand): Promise<SandboxOutcome> {
    if (command.signal.aborted) return { reason: "aborted" };
    await using placement = placeInGroup(this.#groups, this.#kind, await groupLimits(command));
    if (isRoot()) return await this.#runWithOwnUid(command, placement);
    const argv = bubblewrapCommandLine(commandLayout(command, this.#options), null);
    return await runBubblewrap({
      command,
      placement,
      argv,
      initDepth: 1,
      mode: "script",
      startProcess: this.#startProcess,
      killedUid: null,
    });
  }

  async #runWithOwnUid(command: SandboxCommand, placement: Placement): Promise<SandboxOutcome> {
    const folders = writableFolders(command);
    const owner = await ownerOf(folders[0]);
    const [kept] = keptFolders(command);
    const acquired = await (kept === undefined ? this.#uids.acquire(owner) : this.#uids.acquireFor(kept, owner));
    try {
      const owned = new Set(keptFolders(command));
      for (const folder of await foldersOfOthers([...owned], acquired.uid)) owned.delete(folder);
      await changeOwner(
        folders.filter((folder) => !owned.has(folder)),
        acquired.uid,
        this.#startProcess,
      );
      return await this.#runAs(acquired.uid, command, placement);
    } finally {
      acquired.release();
    }
  }

  async #runAs(uid: number, command: SandboxCommand, placement: Placement): Promise<SandboxOutcome> {
    const start = { command, placement, startProcess: this.#startProcess };
    const layout = commandLayout(command, this.#options);
    using files = command.network.kind === "none" ? ((await this.#prepared?.enter(layout.mounts, uid)) ?? null) : null;
    if (files === null)
      return await runBubblewrap({
        ...start,
        argv: bubblewrapCommandLine(layout, uid),
        initDepth: 1,
        mode: "script",
        killedUid: null,
      });
    // The limit on processes can only be set inside, where it counts this sandbox only. The control group has one too.
    const mode = command.onErrorOutput && placement.areProcessesLimited ? "direct" : "script";
    const ownLayout = mode === "direct" ? directLayout(layout, command) : layout;
    const argv = [...files.startArguments, ...isolatedCommand(ownLayout, files.ownMounts)];
    // What enters prepared files is the child of a process that it does not die with.
    const killedUid = keptFolders(command).length === 0 ? uid : null;
    return await runBubblewrap({ ...start, argv, initDepth: 2, mode, killedUid });
  }

  /** Ends all commands with prepared files. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#prepared?.[Symbol.asyncDispose]();
  }
}

async function runBubblewrap(request: StartRequest): Promise<SandboxOutcome> {
  const { command, placement, initDepth, mode, startProcess, killedUid } = request;
  using ports = new LoopbackPorts();
  const { loopbackPorts = [] } = command;
  const openPorts = loopbackPorts.length === 0 ? null : (pid: number) => ports.openInside(pid, loopbackPorts);
  const started = await startBubblewrap(request);
  const status = new BubblewrapStatus(started, { initDepth, startDescriptor: START_DESCRIPTORS[mode] }, openPorts);
  const [, output = null, errors = null] = started.pipes;
  const message = collectMessage(errors);
  const { killReason } = await monitorProcess(
    {
      pid: started.pid,
      exit: started.exit,
      output,
      ...(mode === "direct"
        ? { errors, messages: null }
        : { errors: started.pipes[ERRORS_DESCRIPTOR] ?? null, messages: errors }),
      kill: () => status.kill(),
      terminate: () => status.terminate(),
      placement,
      cleanUp: async () => {
        if (killedUid !== null && (await status.wasKilledFromOutside())) await killProcessesOf(killedUid, startProcess);
        await status.untilNamespaceEmpty();
        await restoreAccess(writableFolders(command));
      },
    },
    command,
  );
  const code = await status.exitCode();
  if (killReason) return { reason: killReason };
  if (await status.wasKilledFromOutside()) throw new Error("The sandbox was killed from outside");
  if (code !== null) return outcomeFor(code);
  if (message().startsWith("bwrap: execvp")) return { reason: "exit", code: NOT_FOUND };
  throw new Error(`The sandbox could not be created: ${message()}`);
}

function startBubblewrap({ command, placement, argv, mode, startProcess }: StartRequest): Promise<StartedProcess> {
  const { fileSizeMb, dataMb } = command.limits;
  const limits = mode === "direct" ? shellLimits({ fileSizeMb, ...(dataMb !== undefined && { dataMb }) }) : null;
  const [program = "", ...programArguments] = [...placement.startArguments([PREFER_FOR_OOM_KILL], limits), ...argv];
  const inputs = new Map<number, string | Buffer>([
    [OPTIONS_DESCRIPTOR, environmentOptions(command)],
    [FILTER_DESCRIPTOR, systemCallFilter()],
  ]);
  if (mode === "direct") inputs.set(0, "");
  const descriptors = command.onErrorOutput ? ERRORS_DESCRIPTOR + 1 : ERRORS_DESCRIPTOR;
  return startProcess({ argv: [program, ...programArguments], descriptors, inputs });
}

/** Collects the start of what bubblewrap prints; in mode `direct`, the command may print to this stream too. */
function collectMessage(errors: Duplex | null): () => string {
  let message = "";
  errors?.on("data", (chunk: Buffer) => {
    if (message.length < MAX_MESSAGE_LENGTH) message += chunk.toString();
  });
  return () => message.slice(0, MAX_MESSAGE_LENGTH).trim();
}

/** bubblewrap reports death by a signal as a shell does, so a command that exits with such a code looks the same. */
function outcomeFor(code: number): SandboxOutcome {
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  return signal ? { reason: "signal", signal } : { reason: "exit", code };
}
