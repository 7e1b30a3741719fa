import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { CallError } from "../../../domain/ports/code-runtime.ts";
import { answerCall, type Answering, type Call, failure, parseCall } from "./call-dispatch.ts";
import { linesOf } from "./read-lines.ts";
import { MAX_BYTES_OF_ALL_CALLS, MAX_CALL_BYTES, MAX_CALLS, MAX_CONCURRENT_CALLS } from "./call-limits.ts";
import { Semaphore } from "./semaphore.ts";

/** What the program waits for, in one byte. */
const GO = "\n";

/**
 * The program's only way out: a unix socket for one connection, on which each line is a call or its answer, in JSON.
 * Whatever goes past a bound closes the connection, which costs nobody but the program.
 */
export class CallSocket {
  readonly #server: Server;
  readonly #ended = new AbortController();
  #connection: Socket | null = null;

  /** @param onConnect - called when somebody is there to be started */
  static async open(path: string, onConnect: () => void): Promise<CallSocket> {
    const socket = new CallSocket(onConnect);
    await once(socket.#server.listen(path), "listening");
    // The folder keeps others out; the sandbox, which is given the socket alone, may be another user.
    await chmod(path, 0o666);
    return socket;
  }

  private constructor(onConnect: () => void) {
    this.#server = createServer((connection) => {
      this.#server.close();
      this.#connection = connection;
      connection.on("error", () => connection.destroy());
      this.#ended.signal.addEventListener("abort", () => connection.destroy(), { once: true });
      onConnect();
    });
    this.#server.maxConnections = 1;
  }

  /** Lets the program that has connected begin, and answers its calls from now on. */
  start(answering: Omit<Answering, "signal">): void {
    if (this.#connection === null) throw new Error("There is no program to start");
    this.#connection.write(GO);
    void serve(this.#connection, { ...answering, signal: this.#ended.signal });
  }

  /** Cuts the connection and aborts the calls that are not answered yet. */
  close(): void {
    this.#server.close();
    this.#ended.abort();
  }
}

async function serve(connection: Socket, answering: Answering): Promise<void> {
  const turns = new Semaphore(MAX_CONCURRENT_CALLS);
  let calls = 0;
  try {
    const limits = { maxLineBytes: MAX_CALL_BYTES, maxBytes: MAX_BYTES_OF_ALL_CALLS };
    for await (const line of linesOf(connection, limits)) {
      const call = parseCall(line);
      if (++calls > MAX_CALLS) return void connection.end(tooManyCalls(call));
      const leave = await turns.enter(answering.signal);
      void reply(connection, call, answering).finally(leave);
    }
  } catch {
    // A program that ended, went past a bound or wrote what is no call: there is nobody to tell.
    connection.destroy();
  }
}

/** A call counts as running until its answer has been read, or answers nobody reads would fill our memory. */
async function reply(connection: Socket, call: Call, answering: Answering): Promise<void> {
  const line = await answerCall(call, answering);
  await new Promise<void>((resolve) => connection.write(line, () => resolve()));
}

function tooManyCalls(call: Call): string {
  return failure(call, new CallError("too_many_calls", `A run has at most ${MAX_CALLS} calls: do the rest in another`));
}
