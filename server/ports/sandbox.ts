import type { OutputListener } from "../../domain/ports/git-source.ts";
import type { AppAddress } from "./app-address.ts";

export interface Mount {
  /** An absolute path of the host. */
  from: string;
  /** An absolute path inside the sandbox. */
  to: string;
  writable: boolean;
  /** Whether many commands have this mount, so that a sandbox may prepare it once for all of them. Not writable. */
  shared?: boolean;
  /** Whether only sandboxes write to the folder, and something else limits its size. */
  keepsData?: boolean;
}

/**
 * A folder inside the sandbox that shows read-only folders, the first above the others. What the command changes exists in `upper`
 * only.
 */
export interface LayeredFolder {
  /** Absolute paths of the host, the uppermost first. */
  layers: readonly string[];
  /** Empty folders of the host, in one file system. Only this command may use them. */
  upper: string;
  work: string;
  merged: string;
  /** An absolute path inside the sandbox. */
  to: string;
}

/** The network of a command: none, or only an HTTP proxy of the host on a unix socket. */
export type SandboxNetwork = { kind: "none" } | { kind: "proxy"; socketPath: string };

/** A TCP port on the loopback interface of a command, whose connections lead to a server outside. */
export interface LoopbackPort {
  port: number;
  target: AppAddress;
  /** Clients of PostgreSQL can use TLS, also if the target is a unix socket. */
  protocol?: "postgresql";
}

export interface SandboxLimits {
  /** `Infinity` for a command that runs until it is aborted. */
  wallTimeMs: number;
  /** Resident memory of the whole process tree. */
  memoryMb: number;
  processes: number;
  /** Writable private memory of each process; not limited without it. The command sees an error when it is exceeded. */
  dataMb?: number;
  /** The largest file that the command may write. */
  fileSizeMb: number;
  /** The total size of all writable mounts; `null` if there is none. */
  diskMb: number | null;
  /** How many bytes of output each listener receives. The rest is read and discarded. */
  outputBytes: number;
  /** How many bytes of output the command may write in a second. Then its writes block until the next one. */
  outputBytesPerSecond?: number;
}

export interface SandboxCommand {
  /** Program and arguments; never a shell string made from input. */
  argv: readonly [string, ...string[]];
  cwd: string;
  env: Readonly<Record<string, string>>;
  mounts: readonly Mount[];
  /** Only for a sandbox that can layer folders (see `canLayer`), on a host that can (see `canLayerFolders`). */
  layered?: LayeredFolder;
  network: SandboxNetwork;
  /** They accept connections before the command starts. */
  loopbackPorts?: readonly LoopbackPort[];
  limits: SandboxLimits;
  /** Receives standard output and standard error, in the order they were written. */
  onOutput: OutputListener;
  /** Receives standard error separately; then `onOutput` receives only standard output. */
  onErrorOutput?: OutputListener;
  /** Called when the command runs, with the function that reads the CPU time of its processes, in milliseconds. */
  onStart?: (readCpuMs: () => number) => void;
  signal: AbortSignal;
  /** For a command that may finish its work before it ends. `signal` kills it at once, also meanwhile. */
  shutdown?: SandboxShutdown;
}

/** Why a command ended: it exited, it exceeded a limit, it was aborted, or a signal killed it. */
export type SandboxOutcome =
  | { reason: "exit"; code: number }
  | { reason: "time" | "memory" | "disk" | "aborted" }
  | { reason: "signal"; signal: string };

/** How a command is asked to end before it is killed. */
export interface SandboxShutdown {
  /** When it is aborted, the processes of the command that handle SIGTERM get it. */
  signal: AbortSignal;
  /** How long after that the command may run. It is killed earlier when these processes have ended, or if there are none. */
  graceMs: number;
}

/** Runs untrusted code. */
export interface Sandbox {
  /** Whether each command has a loopback interface of its own, so that two may listen on the same port. */
  readonly hasOwnNetwork: boolean;
  /** Whether commands can have layered folders, if the host can layer them. */
  readonly canLayer?: boolean;
  /**
   * Runs one command to its end. The command has no credentials, no files of the host except its mounts and the
   * system's read-only programs, and no network except the given one. When this returns, no process of the command
   * exists, however it ended.
   *
   * @throws when the sandbox cannot be created (an internal error, never caused by the command)
   */
  run(command: SandboxCommand): Promise<SandboxOutcome>;
}
