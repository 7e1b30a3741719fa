import { fileURLToPath } from "node:url";
import { type MessagePort, MessageChannel, Worker } from "node:worker_threads";
import { ServiceError } from "../../../../../domain/shared/errors.ts";
import type { DumpConnection } from "./dump-connection.ts";
import { MAX_SCRIPT_BYTES } from "./dump-file.ts";

/** What a thread gets. */
export interface DumpThreadInput {
  args: readonly string[];
  /** What the server has reported about itself. */
  parameters: readonly (readonly [string, string])[];
  /** For the bytes of the connection, in both directions, and for the result. */
  port: MessagePort;
  /** Counts what was sent to the thread, so that it can wait for the next. */
  received: Int32Array<SharedArrayBuffer>;
}

/** What a thread returns. */
export type DumpThreadOutput = { text: string } | { problem: string };

const PROGRAM = fileURLToPath(new URL("./pg-dump-thread.ts", import.meta.url));

/** What `pg_dump` may receive: it keeps all of a schema in its memory. */
const MAX_BYTES = 32 * 1024 ** 2;
const TIMEOUT_MS = 5 * 60_000;

const OPTIONS = [
  // Nothing of this installation is in a dump: no names of roles, and no rights.
  ...["--no-owner", "--no-privileges", "--no-tablespaces", "--no-security-labels"],
  ...["--no-statistics", "--lock-wait-timeout=10000"],
];

/**
 * Runs `pg_dump` of PostgreSQL, which the package has as WebAssembly, in a thread. It uses the connection and its transaction: with another
 * connection, it would wait behind statements of the app that wait for the locks of this one.
 *
 * @param args - the options of `pg_dump` that select what it dumps
 * @returns SQL
 * @throws {ServiceError} `conflict` for a schema that is too large, or is being changed
 */
export async function pgDump(
  connection: DumpConnection,
  args: readonly string[],
  signal: AbortSignal,
): Promise<string> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  deadline.throwIfAborted();
  const { port1: port, port2 } = new MessageChannel();
  const received = new Int32Array(new SharedArrayBuffer(4));
  const { parameters } = connection;
  const workerData: DumpThreadInput = { args: [...args, ...OPTIONS], parameters, port: port2, received };
  // The names of an earlier run.
  await connection.client.query("deallocate all");
  const stream = connection.takeOver();
  const worker = new Worker(PROGRAM, { workerData, transferList: [port2], stdout: true, stderr: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      deadline.addEventListener("abort", () => reject(signal.aborted ? signal.reason : tooExpensive()));
      let room = MAX_BYTES;
      stream.onData((chunk) => {
        room -= chunk.length;
        if (room < 0) return reject(tooExpensive());
        const bytes = Uint8Array.from(chunk);
        port.postMessage(bytes, [bytes.buffer]);
        Atomics.add(received, 0, 1);
        Atomics.notify(received, 0);
      });
      stream.onClose(() => reject(new Error("PostgreSQL ended the connection of pg_dump")));
      port.on("message", (message: Uint8Array | DumpThreadOutput) => {
        if (message instanceof Uint8Array) stream.write(message);
        else if ("problem" in message) reject(explain(message.problem));
        else if (Buffer.byteLength(message.text) > MAX_SCRIPT_BYTES) reject(tooExpensive());
        else resolve(message.text);
      });
      worker.on("error", reject);
    });
  } finally {
    port.close();
    await worker.terminate();
    stream.release();
  }
}

/** What `pg_dump` says when the schema changes meanwhile, or waits for a lock to be changed. */
const CHANGED = /lock timeout|cache lookup failed|does not exist|could not (?:open|find)/;

function explain(problem: string): Error {
  if (!CHANGED.test(problem)) return new Error(problem);
  const message = "The schema of the app's database is being changed. Export the app later.";
  return new ServiceError("conflict", message, { cause: new Error(problem) });
}

function tooExpensive(): ServiceError {
  return new ServiceError("conflict", "The schema of the database is too large to export.");
}
