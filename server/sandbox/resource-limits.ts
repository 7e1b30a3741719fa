import type { SandboxLimits } from "../ports/sandbox.ts";

const MEBIBYTE = 1024 * 1024;

/** Limits that the kernel enforces on each process. A limit that is absent is not set. */
export interface ResourceLimits {
  /** The largest file that a process may write. */
  fileSizeMb: number;
  /** How many processes and threads the user of the process may have. */
  processes?: number;
  /** Writable private memory, in bytes. */
  dataBytes?: number;
  openFiles?: number;
}

/** Limits on each process of a command, except that `processes` is for all together. */
export type CommandLimits = Pick<SandboxLimits, "fileSizeMb" | "dataMb"> & { processes?: number };

/** A part of a shell script that sets limits for the shell and what it starts. */
export interface ShellLimits {
  /** Removes `values` from the start of the arguments of the script. Exits if a limit cannot be set. */
  script: string;
  values: string[];
}

/** The unit of `ulimit -f`, in bytes. */
const BLOCK = 512;
const KIBIBYTE = 1024;

/**
 * Sets the limits of a command in the shell that starts it. `prlimit` would be one more program to start, which costs
 * about 0.8 ms of CPU time. No process writes a core dump.
 */
export function shellLimits({ fileSizeMb, processes, dataMb }: CommandLimits): ShellLimits {
  // The limit on processes is `-p` in dash and BusyBox, and `-u` in other shells, where `-p` cannot be set.
  const script =
    'ulimit -c 0 && ulimit -f "$1" && { [ "$2" = none ] || ulimit -p "$2" || ulimit -u "$2"; } 2>/dev/null && ' +
    '{ [ "$3" = none ] || ulimit -d "$3"; } || exit; shift 3';
  const data = dataMb === undefined ? "none" : String((dataMb * MEBIBYTE) / KIBIBYTE);
  return { script, values: [String((fileSizeMb * MEBIBYTE) / BLOCK), String(processes ?? "none"), data] };
}

/** The arguments of `prlimit` that set these limits for a command. No process writes a core dump. */
export function limitArguments({ fileSizeMb, processes, dataBytes, openFiles }: ResourceLimits): string[] {
  const options = ["--core=0", `--fsize=${fileSizeMb * MEBIBYTE}`];
  if (processes !== undefined) options.push(`--nproc=${processes}`);
  if (dataBytes !== undefined) options.push(`--data=${dataBytes}`);
  if (openFiles !== undefined) options.push(`--nofile=${openFiles}:${openFiles}`);
  return [...options, "--"];
}
