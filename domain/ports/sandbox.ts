import type { OutputListener } from "./git-source.ts";

export interface Mount {
  /** An absolute path of the host. */
  from: string;
  /** An absolute path inside the sandbox. */
  to: string;
  writable: boolean;
}

/** What a command may reach: nothing, or only what one unix socket of the host offers as an HTTP proxy. */
export type SandboxNetwork = { kind: "none" } | { kind: "proxy"; socketPath: string };

export interface SandboxLimits {
  wallTimeMs: number;
  /** Resident memory of the whole process tree. */
  memoryMb: number;
  processes: number;
  /** The largest single file the command may write. */
  fileSizeMb: number;
  /** The bytes that all writable mounts together may hold; `null` when nothing is mounted writable. */
  diskMb: number | null;
  /** Bytes of output handed to each listener; what comes after is read and thrown away. */
  outputBytes: number;
}

export interface SandboxCommand {
  /** Program and arguments; never a shell string made from input. */
  argv: readonly [string, ...string[]];
  cwd: string;
  env: Readonly<Record<string, string>>;
  mounts: readonly Mount[];
  network: SandboxNetwork;
  limits: SandboxLimits;
  /** Gets both outputs of the command, in the order they were written. */
  onOutput: OutputListener;
  /** Gets standard error, where it is wanted apart; `onOutput` then gets only standard output. */
  onErrorOutput?: OutputListener;
  signal: AbortSignal;
}

/** Why a command ended: by itself, or because of the named bound. */
export type SandboxOutcome =
  | { ended: "exit"; code: number }
  | { ended: "time" | "memory" | "disk" | "aborted" }
  | { ended: "signal"; signal: string };

/** Runs code nobody vouches for. */
export interface Sandbox {
  /**
   * Runs one command to its end with no identity, no host files but the mounts and the system's read-only programs,
   * and no network but the given. When it returns, no process of the command is left, however it ended.
   *
   * @throws when the sandbox itself cannot be made (a fault of the platform, never of the command)
   */
  run(command: SandboxCommand): Promise<SandboxOutcome>;
}
