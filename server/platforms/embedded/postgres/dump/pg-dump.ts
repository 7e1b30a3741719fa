import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { type MessagePort, MessageChannel, Worker } from "node:worker_threads";
import pg from "pg";
import { ServiceError } from "../../../../../domain/shared/errors.ts";
import type { DatabaseLogin } from "../database-login.ts";
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

/** Nothing of this installation is in a dump: no names of roles, and no rights. */
const NEUTRAL = ["--no-owner", "--no-privileges", "--no-tablespaces", "--no-security-labels", "--no-statistics"];

interface DumpOptions {
  /** Of the options of `pg_dump`, what it dumps. */
  args: readonly string[];
  /** The name of an exported snapshot. */
  snapshot: string;
  signal: AbortSignal;
}

/**
 * Runs `pg_dump` of PostgreSQL, which the package has as WebAssembly, in a thread. It has no sockets, so this process connects for it.
 *
 * @returns SQL
 * @throws {ServiceError} `conflict` for a schema that is too large
 */
export async function pgDump(reader: DatabaseLogin, { args, snapshot, signal }: DumpOptions): Promise<string> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  deadline.throwIfAborted();
  await using connection = await RawConnection.open(reader);
  const { port1: port, port2 } = new MessageChannel();
  const received = new Int32Array(new SharedArrayBuffer(4));
  const allArgs = [...args, ...NEUTRAL, `--snapshot=${snapshot}`, "--lock-wait-timeout=10000"];
  const workerData: DumpThreadInput = { args: allArgs, parameters: connection.parameters, port: port2, received };
  const worker = new Worker(PROGRAM, { workerData, transferList: [port2], stdout: true, stderr: true });
  try {
    return await new Promise<string>((resolve, reject) => {
      const abort = () => reject(signal.aborted ? signal.reason : tooExpensive());
      deadline.addEventListener("abort", abort);
      let room = MAX_BYTES;
      connection.onData((chunk) => {
        room -= chunk.length;
        if (room < 0) return reject(tooExpensive());
        const bytes = Uint8Array.from(chunk);
        port.postMessage(bytes, [bytes.buffer]);
        Atomics.add(received, 0, 1);
        Atomics.notify(received, 0);
      });
      connection.onEnd(() => reject(new Error("PostgreSQL ended the connection of pg_dump")));
      port.on("message", (message: Uint8Array | DumpThreadOutput) => {
        if (message instanceof Uint8Array) connection.write(message);
        else if ("problem" in message) reject(explain(message.problem));
        else if (Buffer.byteLength(message.text) > MAX_SCRIPT_BYTES) reject(tooExpensive());
        else resolve(message.text);
      });
      worker.on("error", reject);
    });
  } finally {
    port.close();
    await worker.terminate();
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

/** A connection that `pg` has opened, without what `pg` does with it. */
class RawConnection implements AsyncDisposable {
  readonly parameters: (readonly [string, string])[] = [];
  readonly #reader: DatabaseLogin;
  readonly #client: pg.Client;

  private constructor(reader: DatabaseLogin) {
    this.#reader = reader;
    this.#client = new pg.Client({ connectionString: reader.url });
    this.#client.on("error", () => undefined);
  }

  static async open(reader: DatabaseLogin): Promise<RawConnection> {
    const connection = new RawConnection(reader);
    const { connection: parsed } = connection.#parts();
    parsed.on("parameterStatus", (status: { parameterName: string; parameterValue: string }) => {
      connection.parameters.push([status.parameterName, status.parameterValue]);
    });
    await connection.#client.connect();
    connection.#stream().removeAllListeners("data");
    return connection;
  }

  onData(listener: (chunk: Buffer) => void): void {
    this.#stream().on("data", listener);
  }

  onEnd(listener: () => void): void {
    this.#stream().on("close", listener);
  }

  write(bytes: Uint8Array): void {
    this.#stream().write(bytes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { processID: pid } = this.#parts();
    this.#stream().destroy();
    if (pid !== null) await this.#reader.terminate(pid).catch(() => undefined);
  }

  #stream(): Socket {
    return this.#parts().connection.stream;
  }

  #parts() {
    return this.#client as unknown as {
      processID: number | null;
      connection: { stream: Socket; on(event: string, listener: (message: never) => void): void };
    };
  }
}
