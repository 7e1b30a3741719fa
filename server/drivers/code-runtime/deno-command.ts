import { createRequire } from "node:module";
import path from "node:path";
import { WORKSPACE_LIMITS } from "../../../domain/ports/agent-workspaces.ts";
import { RUN_TIME_MS } from "../../../domain/ports/code-runtime.ts";
import type { Mount, SandboxLimits } from "../../ports/sandbox.ts";
import { MAX_PRINTED_BYTES } from "./captured-output.ts";
import { IMPORT_MAP, PRELOADED_SCRIPT } from "./prepare-importable-modules.ts";

/** The memory of a program in MiB: for JavaScript objects, and in total. */
export const HEAP_MB = 256;
export const MEMORY_MB = 512;

/** Writable memory that V8 reserves for code at its start and does not use. */
const RESERVED_MB = 512;

/** How long the sandbox and Deno may take to start. */
export const STARTUP_MS = 10_000;

/** How long an idle Deno process may wait for its program. */
export const IDLE_TIMEOUT_MS = 120_000;

const DENO = "/opt/deno";
const MODULES = "/opt/modules";
export const PROGRAM_FOLDER = "/code";
export const SOCKET_FILE = "calls.sock";
const SOCKET = `${PROGRAM_FOLDER}/${SOCKET_FILE}`;
export const PROGRAM_FILE = "main.ts";
export const DECLARATIONS_FILE = "service.d.ts";
/** The folder with the files that are kept for the next programs of an agent. */
export const WORKSPACE = "/workspace";

/**
 * Deno's permissions are the second barrier; the sandbox is the first. Only the preloaded script needs the socket, and it
 * revokes its permissions for it before the program starts. Static imports need no permission, so the import map redirects
 * every file except the program's own to a path that does not exist. With `--single-threaded`, V8 uses one core and the
 * same memory on every machine. Compiled code is not kept: the cache is in the sandbox's temporary file system.
 */
export function getCommandLine({ hasWorkspace }: { hasWorkspace: boolean }): [string, ...string[]] {
  const files = hasWorkspace ? `${SOCKET},${WORKSPACE}` : SOCKET;
  return [
    DENO,
    "run",
    "--quiet",
    "--no-prompt",
    "--no-config",
    "--no-lock",
    "--no-code-cache",
    "--no-remote",
    "--no-npm",
    `--import-map=${MODULES}/${IMPORT_MAP}`,
    `--preload=${MODULES}/${PRELOADED_SCRIPT}`,
    `--allow-net=unix:${SOCKET}`,
    `--allow-read=${files}`,
    `--allow-write=${files}`,
    "--deny-run",
    "--deny-ffi",
    "--deny-env",
    "--deny-sys",
    "--deny-import",
    `--v8-flags=--single-threaded,--max-old-space-size=${HEAP_MB}`,
    `${PROGRAM_FOLDER}/${PROGRAM_FILE}`,
  ];
}

export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: "/usr/bin:/bin",
  DENO_DIR: "/tmp/deno",
  DENO_NO_UPDATE_CHECK: "1",
  NO_COLOR: "1",
};

/** What the sandbox contains apart from `getMounts`. */
export const SANDBOX_FILES = { nodePath: null, programs: "tools", temporaryMb: 32 } as const;

/** The driver enforces the time limit of a program. The time limit of the sandbox applies if that fails. */
export const LIMITS: SandboxLimits = {
  wallTimeMs: STARTUP_MS + IDLE_TIMEOUT_MS + RUN_TIME_MS.max,
  memoryMb: MEMORY_MB,
  processes: 64,
  // Without control groups, the sandbox checks memory at intervals. Between two checks, the kernel enforces this limit.
  // To the program, exceeding it is an error that it can catch.
  dataMb: RESERVED_MB + MEMORY_MB,
  fileSizeMb: 16,
  diskMb: null,
  outputBytes: MAX_PRINTED_BYTES,
};

const WORKSPACE_MB = WORKSPACE_LIMITS.bytes / 1024 ** 2;

/** With more than the workspace holds as the largest file, a write beyond its size fails before it kills the program. */
export const LIMITS_WITH_WORKSPACE: SandboxLimits = { ...LIMITS, fileSizeMb: WORKSPACE_MB + 1, diskMb: WORKSPACE_MB };

export interface ProgramMounts {
  /** The folder on the host with the program's files and its socket. */
  folder: string;
  /** The folder on the host with the modules that programs can import, from `ImportableModules`. */
  modulesFolder: string;
  /** The folder on the host with the program's workspace; `null` for none. */
  workspace: string | null;
}

export function getMounts({ folder, modulesFolder, workspace }: ProgramMounts): Mount[] {
  // Folders, and not each file of them: a mount costs 0.1 to 0.2 ms of CPU time.
  return [
    { from: findDenoBinary(), to: DENO, writable: false, shared: true },
    { from: modulesFolder, to: MODULES, writable: false, shared: true },
    { from: folder, to: PROGRAM_FOLDER, writable: false },
    ...(workspace === null ? [] : [{ from: workspace, to: WORKSPACE, writable: true }]),
  ];
}

export function getSocketPath(folder: string): string {
  return path.join(folder, SOCKET_FILE);
}

/** Finds the binary in its own package. The install script of the package `deno` would copy it, but does not run here. */
function findDenoBinary(): string {
  const denoRequire = createRequire(createRequire(import.meta.url).resolve("deno/package.json"));
  return denoRequire.resolve(`@deno/linux-${process.arch}-glibc/deno`);
}
