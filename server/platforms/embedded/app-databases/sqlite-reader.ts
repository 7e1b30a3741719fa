import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { DATABASE_LIMITS, type DatabaseQuery, type QueryResult } from "../../../../domain/ports/app-databases.ts";
import { ServiceError } from "../../../../domain/shared/errors.ts";
import { parseJson } from "../../../../domain/shared/json.ts";
import { removeTree } from "../../../files/remove-tree.ts";
import type { Sandbox, SandboxOutcome } from "../../../ports/sandbox.ts";
import { SANDBOX_NODE } from "../../../sandbox/sandbox-environment.ts";
import { copyDatabase, type DatabaseLocation } from "./copy-database.ts";
import type { DatabaseProblem, DatabaseRequest } from "./inside/database-request.ts";
import { type DescribedTables, describedTables, problemReport, queryResult } from "./reports.ts";

const PROGRAM_FOLDER = `${import.meta.dirname}/inside`;
const WORK_FOLDER = "/work";
const COPY = "database";

const MEMORY_MB = 640;
const HEAP_MB = 320;
/** Beside the copy: what SQLite sorts, and what it restores from a journal. */
const EXTRA_DISK_MB = 512;

export interface SqliteReaderOptions {
  sandbox: Sandbox;
  /** A folder for the copies, which exist only as long as a process reads one. */
  copyRoot: string;
  /** How long one process may run. */
  statementMs?: number;
}

type Request = Omit<Extract<DatabaseRequest, { kind: "describe" }>, "limits"> | ({ kind: "query" } & DatabaseQuery);

/**
 * Reads SQLite files that apps wrote. Each is copied, and the copy is opened by a short process in the sandbox, which has nothing
 * else of the app, and no network.
 */
export class SqliteReader {
  readonly #options: Required<SqliteReaderOptions>;

  constructor(options: SqliteReaderOptions) {
    this.#options = { statementMs: DATABASE_LIMITS.statementMs, ...options };
  }

  async describe(location: DatabaseLocation, signal: AbortSignal): Promise<DescribedTables & { bytes: number }> {
    const { bytes, report } = await this.#read(location, { kind: "describe" }, signal);
    const described = describedTables.safeParse(report);
    if (!described.success) throw explainProblem(report, "conflict");
    return { ...described.data, bytes };
  }

  async query(location: DatabaseLocation, query: DatabaseQuery, signal: AbortSignal): Promise<QueryResult> {
    const { report } = await this.#read(location, { kind: "query", ...query }, signal);
    const result = queryResult.safeParse(report);
    if (!result.success) throw explainProblem(report, "invalid");
    return result.data;
  }

  async #read(
    location: DatabaseLocation,
    request: Request,
    signal: AbortSignal,
  ): Promise<{ bytes: number; report: unknown }> {
    const { copyRoot, sandbox, statementMs } = this.#options;
    const folder = path.join(copyRoot, randomUUID());
    await mkdir(folder, { recursive: true, mode: 0o700 });
    try {
      const bytes = await copyDatabase(location, path.join(folder, COPY), signal);
      // A file, because every process of the host can read arguments.
      const content: DatabaseRequest = { ...request, limits: DATABASE_LIMITS };
      await writeFile(path.join(folder, "request.json"), JSON.stringify(content), { mode: 0o600 });
      const chunks: Uint8Array[] = [];
      const outcome = await sandbox.run(this.#command(folder, bytes, (chunk) => chunks.push(chunk), signal));
      signal.throwIfAborted();
      requireExit(outcome, request.kind === "query" ? "sql: the statement" : "Listing the tables", statementMs);
      return { bytes, report: parseJson(Buffer.concat(chunks).toString()) };
    } finally {
      await removeTree(folder);
    }
  }

  #command(folder: string, bytes: number, onOutput: (chunk: Uint8Array) => void, signal: AbortSignal) {
    const copyMb = Math.ceil(bytes / 1024 ** 2);
    return {
      argv: [
        SANDBOX_NODE,
        `--max-old-space-size=${HEAP_MB}`,
        "--no-warnings",
        "/opt/database-reader/read-database.ts",
        `${WORK_FOLDER}/${COPY}`,
        `${WORK_FOLDER}/request.json`,
      ],
      cwd: WORK_FOLDER,
      env: { LANG: "C.UTF-8", SQLITE_TMPDIR: WORK_FOLDER },
      mounts: [
        { from: PROGRAM_FOLDER, to: "/opt/database-reader", writable: false },
        { from: folder, to: WORK_FOLDER, writable: true },
      ],
      network: { kind: "none" },
      limits: {
        wallTimeMs: this.#options.statementMs,
        memoryMb: MEMORY_MB,
        processes: 32,
        fileSizeMb: copyMb + EXTRA_DISK_MB,
        diskMb: 2 * copyMb + EXTRA_DISK_MB,
        outputBytes: 4 * DATABASE_LIMITS.resultBytes,
      },
      onOutput,
      onErrorOutput: () => {},
      signal,
    } as const;
  }
}

/**
 * @param subject - what the program did, for the caller
 * @throws {ServiceError} when the program did not end by itself
 */
function requireExit(outcome: SandboxOutcome, subject: string, statementMs: number): void {
  if (outcome.reason === "exit" && outcome.code === 0) return;
  if (outcome.reason === "time")
    throw new ServiceError("invalid", `${subject} took longer than ${statementMs / 1000} s and was stopped.`);
  if (outcome.reason === "disk")
    throw new ServiceError("invalid", `${subject} needs too much space for temporary files.`);
  // Node.js aborts when its heap is full. Anything else is a crash, which a damaged file can cause.
  const isMemory = outcome.reason === "memory" || (outcome.reason === "signal" && outcome.signal === "SIGABRT");
  throw isMemory ? needsMemory(subject) : new ServiceError("conflict", DAMAGED);
}

function needsMemory(subject = "sql: the statement"): ServiceError {
  return new ServiceError("invalid", `${subject} needs too much memory. Read fewer columns, or parts of large values.`);
}

const DAMAGED = "The database is damaged, or is not a SQLite database.";
const REFUSALS: Readonly<Record<string, string>> = {
  several: "sql: has more than one statement. Send one statement.",
  empty: "sql: has no statement.",
  write:
    "sql: only statements that read are permitted: SELECT, VALUES, WITH, EXPLAIN, and PRAGMA that changes nothing.",
};

/** A database may have taken over the program, so its report is untrusted too. */
function explainProblem(report: unknown, code: "invalid" | "conflict"): ServiceError {
  const problem = problemReport.safeParse(report).data?.problem as DatabaseProblem | undefined;
  if (problem === undefined) return new ServiceError("conflict", DAMAGED);
  if ("sqlite" in problem)
    return new ServiceError(code, `${code === "invalid" ? "sql: " : ""}SQLite: ${problem.sqlite}`);
  if (problem.reason === "memory") return needsMemory();
  const refusal = Object.hasOwn(REFUSALS, problem.reason) ? REFUSALS[problem.reason] : undefined;
  return refusal === undefined ? new ServiceError("conflict", DAMAGED) : new ServiceError("invalid", refusal);
}
