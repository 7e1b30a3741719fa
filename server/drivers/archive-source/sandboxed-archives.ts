import { createWriteStream } from "node:fs";
import { chmod, mkdir, mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ArchiveContents, ArchiveSource, Unpacking } from "../../../domain/ports/archive-source.ts";
import { BuildFailure } from "../../../domain/shared/errors.ts";
import { isRecord, parseJson } from "../../../domain/shared/json.ts";
import type { Mount, Sandbox, SandboxOutcome } from "../../ports/sandbox.ts";
import { SANDBOX_NODE } from "../../sandbox/sandbox-environment.ts";
import { describeViolation } from "./describe-violation.ts";
import type { ArchiveLimits } from "./inside/archive-report.ts";
import { packFiles } from "./pack-files.ts";

const MEBIBYTE = 1024 * 1024;
const MEMORY_MB = 512;
const HEAP_MB = 256;
const WALL_TIME_MS = 120_000;
const REPORT_BYTES = 64 * 1024;

/** Those of a checkout with git. */
const DEFAULT_LIMITS: ArchiveLimits = {
  totalBytes: 512 * MEBIBYTE,
  fileBytes: 100 * MEBIBYTE,
  files: 50_000,
  pathBytes: 1024,
  pathDepth: 64,
  nameBytes: 254,
};

/** The folder of the program that runs inside the sandbox. */
const PROGRAM_FOLDER = `${import.meta.dirname}/inside`;

export interface SandboxedArchivesOptions {
  sandbox: Sandbox;
  /** For archives while they are inspected. Only this process uses it. */
  folder: string;
  /** The `node_modules` folder with the library. */
  modulesDirectory: string;
  limits?: Partial<ArchiveLimits>;
  wallTimeMs?: number;
}

/** What the program that reads an archive is given beside it. */
interface Reading {
  /** For the copy of the archive. */
  folder: string;
  /** Where the files are written; `null` to check them only. */
  directory: string | null;
  signal: AbortSignal;
}

type ReadResult = { problem: string } | { problem: null; contents: ArchiveContents; leftOut: number };

/** Reads tar archives with a program in the sandbox, one process for each archive, without a network. */
export class SandboxedArchives implements ArchiveSource {
  readonly #options: SandboxedArchivesOptions;
  readonly #limits: ArchiveLimits;
  readonly pack = packFiles;

  private constructor(options: SandboxedArchivesOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
  }

  /** Removes the archives that an earlier process has left in the folder. */
  static async open(options: SandboxedArchivesOptions): Promise<SandboxedArchives> {
    await rm(options.folder, { recursive: true, force: true });
    await mkdir(options.folder, { recursive: true, mode: 0o700 });
    return new SandboxedArchives(options);
  }

  async inspect(archive: AsyncIterable<Uint8Array>, signal = new AbortController().signal) {
    const folder = await mkdtemp(path.join(this.#options.folder, "inspect-"));
    try {
      const result = await this.#read(archive, { folder, directory: null, signal });
      return result.problem === null ? result.contents : { problem: result.problem };
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async unpack({ archive, directory, onOutput, signal }: Unpacking): Promise<readonly string[]> {
    await mkdir(directory, { recursive: true });
    // Inside the workspace, so that it is removed with the workspace if this process is killed.
    const folder = await mkdtemp(`${directory}.archive-`);
    try {
      const result = await this.#read(archive, { folder, directory, signal });
      if (result.problem !== null) throw notUnpacked(result.problem);
      const { fileCount, bytes } = result.contents;
      onOutput(Buffer.from(`Unpacked ${fileCount} files, ${bytes} bytes\n`));
      return result.leftOut === 0 ? [] : ["The folder .git of the archive is left out."];
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #read(archive: AsyncIterable<Uint8Array>, reading: Reading): Promise<ReadResult> {
    const { folder, signal } = reading;
    const file = path.join(folder, "archive");
    await pipeline(Readable.from(archive, { objectMode: false }), createWriteStream(file), { signal });
    // The sandbox reads it as another user.
    await chmod(file, 0o444);
    const chunks: Uint8Array[] = [];
    const outcome = await this.#run(file, reading, (chunk) => void chunks.push(chunk));
    signal.throwIfAborted();
    return readReport(outcome, Buffer.concat(chunks).toString(), this.#limits);
  }

  #run(file: string, { directory, signal }: Reading, onOutput: (chunk: Uint8Array) => void): Promise<SandboxOutcome> {
    const { sandbox, modulesDirectory, wallTimeMs = WALL_TIME_MS } = this.#options;
    const { totalBytes, fileBytes } = this.#limits;
    const program = ["/opt/archives/read-archive.ts", JSON.stringify(this.#limits), "/opt/archive"];
    const source: Mount[] = directory === null ? [] : [{ from: directory, to: "/source", writable: true }];
    return sandbox.run({
      argv: [
        ...[SANDBOX_NODE, `--max-old-space-size=${HEAP_MB}`, "--no-warnings"],
        ...[...program, ...source.map(({ to }) => to)],
      ] as [string, ...string[]],
      cwd: "/opt/archives",
      env: { LANG: "C.UTF-8" },
      mounts: [
        { from: PROGRAM_FOLDER, to: "/opt/archives", writable: false },
        { from: modulesDirectory, to: "/opt/node_modules", writable: false },
        { from: file, to: "/opt/archive", writable: false },
        ...source,
      ],
      network: { kind: "none" },
      limits: {
        wallTimeMs,
        memoryMb: MEMORY_MB,
        processes: 32,
        fileSizeMb: Math.ceil(fileBytes / MEBIBYTE),
        // The overhead of the file system for many small files comes on top.
        diskMb: directory === null ? null : Math.ceil((1.5 * totalBytes) / MEBIBYTE) + 256,
        outputBytes: REPORT_BYTES,
      },
      onOutput,
      onErrorOutput: () => {},
      signal,
    });
  }
}

/** An archive may have taken over the program, so its report is untrusted. */
function readReport(outcome: SandboxOutcome, output: string, limits: ArchiveLimits): ReadResult {
  const refuse = (report: unknown): ReadResult => ({ problem: describeViolation(report, limits) });
  if (outcome.reason === "signal" && outcome.signal === "SIGABRT") return refuse({ reason: "memory" });
  if (outcome.reason === "disk") return refuse({ reason: "totalBytes" });
  if (outcome.reason !== "exit") return refuse({ reason: outcome.reason });
  const report = outcome.code === 0 ? parseJson(output) : null;
  if (!isRecord(report)) return refuse({ reason: "damaged" });
  const { fileCount, bytes, leftOut } = report;
  if (report["outcome"] !== "done" || !isCount(fileCount) || !isCount(bytes) || !isCount(leftOut))
    return refuse(report);
  return { problem: null, contents: { fileCount, bytes }, leftOut };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function notUnpacked(problem: string): BuildFailure {
  return new BuildFailure("user", problem, "Pack the folder again, and deploy the new archive.");
}
