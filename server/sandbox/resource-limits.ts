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

/** The arguments of `prlimit` that set these limits for a command. No process writes a core dump. */
export function limitArguments({ fileSizeMb, processes, dataBytes, openFiles }: ResourceLimits): string[] {
  const options = ["--core=0", `--fsize=${fileSizeMb * MEBIBYTE}`];
  if (processes !== undefined) options.push(`--nproc=${processes}`);
  if (dataBytes !== undefined) options.push(`--data=${dataBytes}`);
  if (openFiles !== undefined) options.push(`--nofile=${openFiles}:${openFiles}`);
  return [...options, "--"];
}
