import { createRequire } from "node:module";
import path from "node:path";
import { RUN_TIME_MS } from "../../../domain/ports/code-runtime.ts";
import type { Mount, SandboxLimits } from "../../../domain/ports/sandbox.ts";
import { FLOOD_BYTES } from "./captured-output.ts";

/** What a program may hold, in MiB: in JavaScript objects, and in all. */
export const HEAP_MB = 256;
export const MEMORY_MB = 512;

/** Writable memory that V8 reserves for code when it starts, and does not use. */
const RESERVED_MB = 512;
const MEBIBYTE = 1024 * 1024;

/** How long the sandbox and Deno may take to come up. */
export const STARTUP_MS = 10_000;

/** How long a Deno may wait for its program. */
export const WAITING_MS = 120_000;

const DENO = "/opt/deno";
const SCRIPTS = "/opt/code-runtime";
const MODULES = "/opt/modules";
const SOCKET = "/run/calls.sock";

export const PROGRAM_FOLDER = "/code";
export const PROGRAM_FILE = "main.ts";
export const DECLARATIONS_FILE = "service.d.ts";

/**
 * Rights are the second wall; the sandbox is the first. The socket is given to the preloaded script alone, which gives
 * it up before the program starts. Static imports ask for no rights, so the import map leads every file but the
 * program's own to where nothing is. One thread for all of V8 makes one program cost one core and the same memory
 * everywhere. What a program is transpiled to is not kept: the cache is in the sandbox's scratch space.
 */
const DENO_ARGUMENTS = [
  ...["run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-code-cache", "--no-remote", "--no-npm"],
  ...[`--import-map=${SCRIPTS}/import-map.json`, `--preload=${SCRIPTS}/service.mjs`],
  ...[`--allow-net=unix:${SOCKET}`, `--allow-read=${SOCKET}`, `--allow-write=${SOCKET}`],
  ...["--deny-run", "--deny-ffi", "--deny-env", "--deny-sys", "--deny-import"],
  `--v8-flags=--single-threaded,--max-old-space-size=${HEAP_MB}`,
];

/** The sandbox looks at memory now and then; the kernel's bound holds in between, and lets the program catch it. */
const BOUNDS = ["nice", "-n", "10", "prlimit", `--data=${(RESERVED_MB + MEMORY_MB) * MEBIBYTE}`, "--"] as const;

export const COMMAND_LINE: readonly [string, ...string[]] = [
  ...BOUNDS,
  DENO,
  ...DENO_ARGUMENTS,
  `${PROGRAM_FOLDER}/${PROGRAM_FILE}`,
];

export const ENVIRONMENT: Readonly<Record<string, string>> = {
  PATH: "/usr/bin:/bin",
  DENO_DIR: "/tmp/deno",
  DENO_NO_UPDATE_CHECK: "1",
  NO_COLOR: "1",
};

/** The time of a program is kept by us; the sandbox's is there in case we fail to. */
export const LIMITS: SandboxLimits = {
  wallTimeMs: STARTUP_MS + WAITING_MS + RUN_TIME_MS.most,
  memoryMb: MEMORY_MB,
  processes: 64,
  fileSizeMb: 16,
  diskMb: null,
  outputBytes: FLOOD_BYTES,
};

/**
 * @param folder - the host's folder with the program's files and its socket
 * @param modules - the host's folder with what programs can import
 */
export function mountsFor(folder: string, modules: string): Mount[] {
  const inside = path.join(import.meta.dirname, "inside");
  const program = [PROGRAM_FILE, DECLARATIONS_FILE].map(
    (name) => [path.join(folder, name), `${PROGRAM_FOLDER}/${name}`] as const,
  );
  const all = [
    [denoBinary(), DENO],
    [modules, MODULES],
    [path.join(inside, "import-map.json"), `${SCRIPTS}/import-map.json`],
    [path.join(inside, "service.mjs"), `${SCRIPTS}/service.mjs`],
    [socketIn(folder), SOCKET],
    ...program,
  ] as const;
  return all.map(([from, to]) => ({ from, to, writable: false }));
}

export function socketIn(folder: string): string {
  return path.join(folder, "calls.sock");
}

/** The package `deno` would copy this binary when it is installed; install scripts do not run here. */
function denoBinary(): string {
  const ofDeno = createRequire(createRequire(import.meta.url).resolve("deno/package.json"));
  return ofDeno.resolve(`@deno/linux-${process.arch}-glibc/deno`);
}
