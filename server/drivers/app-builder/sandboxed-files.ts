import { mkdtemp, rm, writeFile, chmod } from "node:fs/promises";
import path from "node:path";
import { isRecord, parseJson } from "../../../domain/shared/json.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import { SANDBOX_NODE } from "../../sandbox/sandbox-environment.ts";

/** One operation on the files of a project, in the fields that `inside/file-tool.mjs` reads. */
export interface FileRequest extends Record<string, unknown> {
  operation: "list" | "read" | "search" | "edit" | "write" | "delete";
}

/** What the agent gets: untrusted, and never more than `OUTPUT_BYTES`. */
export type FileResult = Record<string, unknown>;

const OUTPUT_BYTES = 256 * 1024;

/** Reads and changes the files of a project inside the sandbox, one process for each operation. */
export class SandboxedFiles {
  readonly #sandbox: Sandbox;
  readonly #directory: string;

  /** @param directory - the project; the folder beside it must be writable for the service */
  constructor(sandbox: Sandbox, directory: string) {
    this.#sandbox = sandbox;
    this.#directory = directory;
  }

  /** @throws when the sandbox cannot be started, or its process is stopped */
  run(request: FileRequest, signal: AbortSignal): Promise<FileResult> {
    const file = { name: "request.json", content: JSON.stringify(request) };
    return withRequestFile(this.#directory, file, (folder) => this.#run(folder, signal));
  }

  async #run(folder: string, signal: AbortSignal): Promise<FileResult> {
    const output: Uint8Array[] = [];
    const outcome = await this.#sandbox.run({
      argv: [SANDBOX_NODE, "/opt/app-builder/file-tool.mjs", "/request/request.json"],
      cwd: "/project",
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/tmp", LANG: "C.UTF-8" },
      mounts: [
        { from: this.#directory, to: "/project", writable: true },
        { from: folder, to: "/request", writable: false },
        { from: path.join(import.meta.dirname, "inside"), to: "/opt/app-builder", writable: false },
      ],
      network: { kind: "none" },
      limits: {
        wallTimeMs: 20_000,
        memoryMb: 512,
        processes: 64,
        fileSizeMb: 16,
        diskMb: 2048,
        outputBytes: OUTPUT_BYTES,
      },
      onOutput: (chunk) => void output.push(chunk),
      onErrorOutput: () => {},
      signal,
    });
    signal.throwIfAborted();
    if (outcome.reason !== "exit") return { error: `The operation was stopped (${outcome.reason}).` };
    const result = parseJson(Buffer.concat(output).toString("utf8"));
    return isRecord(result) ? result : { error: "The operation failed." };
  }
}

/**
 * Gives a command a file that it can read in the sandbox: content can be larger than an argument may be.
 *
 * @param directory - a folder; the file is in a temporary folder beside it
 * @param use - receives the folder, which contains only the file
 */
export async function withRequestFile<T>(
  directory: string,
  file: { name: string; content: string },
  use: (folder: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(`${directory}.request-`);
  try {
    // The sandbox may run as another user.
    await chmod(folder, 0o755);
    await writeFile(path.join(folder, file.name), file.content, { mode: 0o644 });
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
