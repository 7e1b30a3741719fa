import { type ChildProcess, spawn } from "node:child_process";
import { stat } from "node:fs/promises";
import { constants } from "node:os";
import type { Readable, Writable } from "node:stream";
import type { Sandbox, SandboxCommand, SandboxOutcome } from "../../domain/ports/sandbox.ts";
import {
  bubblewrapCommandLine,
  bubblewrapSecrets,
  ERRORS_DESCRIPTOR,
  type Layout,
  SECRETS_DESCRIPTOR,
} from "./bubblewrap-arguments.ts";
import { BubblewrapStatus } from "./bubblewrap-status.ts";
import { handOver, isRoot, reopen, writableFolders } from "./file-ownership.ts";
import { UidPool } from "./uid-pool.ts";
import { monitorProcess } from "./monitor-process.ts";

const MAX_COMPLAINT_LENGTH = 4096;

export interface BubblewrapOptions {
  /** The Node.js that commands find inside as `SANDBOX_NODE`. */
  nodePath?: string;
  /** The size of `/tmp`, and of `/dev/shm`, inside. */
  temporaryMb?: number;
  /** The user ids of commands when the service runs as root; no account of the host may have them. */
  slots?: { firstUid: number; count: number };
}

/**
 * Runs commands in Linux namespaces of their own, through bubblewrap. What a command sees is `/usr` and the mounts;
 * what it can write is the writable mounts and a bounded `/tmp`, which has an empty `/tmp/home`. A mount may be anywhere
 * but below `/tmp`, `/dev`, `/proc` and another writable mount.
 *
 * Run by root, each command has a user id of its own (a slot), and the writable mounts are made over to it, with all
 * they hold, before it starts. They stay with that id, which the next command on the same folder is given again if it
 * is free. So nobody but root may expect to own the content of a writable mount, and no two commands at a time may
 * share one.
 *
 * A sandbox dies with the thread that started it, also when the service is killed.
 */
export class BubblewrapSandbox implements Sandbox {
  readonly #layout: Layout;
  readonly #slots: UidPool;

  constructor({ nodePath = process.execPath, temporaryMb = 512, slots }: BubblewrapOptions = {}) {
    this.#layout = { nodePath, temporaryMb };
    this.#slots = new UidPool(slots?.firstUid ?? 60_600, slots?.count ?? 100);
  }

  async run(command: SandboxCommand): Promise<SandboxOutcome> {
    if (command.signal.aborted) return { ended: "aborted" };
    return isRoot() ? this.#runInSlot(command) : runBubblewrap(command, this.#layout, null);
  }

  async #runInSlot(command: SandboxCommand): Promise<SandboxOutcome> {
    const folders = writableFolders(command);
    const owner = folders[0] === undefined ? -1 : (await stat(folders[0])).uid;
    const slot = await this.#slots.acquire(owner);
    try {
      await handOver(folders, slot.uid);
      return await runBubblewrap(command, this.#layout, slot.uid);
    } finally {
      slot.release();
    }
  }
}

async function runBubblewrap(command: SandboxCommand, layout: Layout, uid: number | null): Promise<SandboxOutcome> {
  const [program, ...programArguments] = bubblewrapCommandLine(command, layout, uid);
  const child = spawn(program, programArguments, {
    cwd: "/",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    stdio: Array.from({ length: command.onErrorOutput ? ERRORS_DESCRIPTOR + 1 : ERRORS_DESCRIPTOR }, () => "pipe"),
  });
  const status = new BubblewrapStatus(child);
  const complaint = collectComplaint(child);
  writeSecrets(child, command);
  const { bound } = await monitorProcess(
    {
      child,
      errors: (child.stdio.at(ERRORS_DESCRIPTOR) ?? null) as Readable | null,
      kill: () => status.killNamespace(),
      endRest: async () => {
        await status.namespaceGone();
        await reopen(writableFolders(command));
      },
    },
    command,
  );
  const code = await status.exitCode();
  if (bound) return { ended: bound };
  if (code === null) throw new Error(`The sandbox could not be made: ${complaint()}`);
  return outcomeOf(code);
}

function writeSecrets(child: ChildProcess, command: SandboxCommand): void {
  const pipe = child.stdio[SECRETS_DESCRIPTOR] as Writable;
  // A sandbox that could not be made closes the pipe early; the status tells how that ended.
  pipe.on("error", () => undefined);
  pipe.end(bubblewrapSecrets(command));
}

/** The command's own errors are part of its output, so this stream is bubblewrap's. */
function collectComplaint(child: ChildProcess): () => string {
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    if (complaint.length < MAX_COMPLAINT_LENGTH) complaint += chunk.toString();
  });
  return () => complaint.slice(0, MAX_COMPLAINT_LENGTH).trim();
}

/** Bubblewrap reports a death by signal in the manner of a shell; a command that exits so by itself looks the same. */
function outcomeOf(code: number): SandboxOutcome {
  const signal = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  return signal ? { ended: "signal", signal } : { ended: "exit", code };
}
