import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import PQueue from "p-queue";
import {
  type Call,
  type CallContext,
  dispatchCall,
  formatErrorResponse,
  MAX_CALL_BYTES,
  MAX_CALLS,
  MAX_CONCURRENT_CALLS,
  MAX_TOTAL_CALL_BYTES,
  parseCall,
} from "./call-dispatch.ts";

/** The byte that starts the program. */
const START = "\n";

/**
 * The only connection of a program to the outside: a unix socket that accepts one client. Each line is a call or its
 * response, in JSON. A program that exceeds a bound loses the connection.
 */
export class CallSocket {
  readonly #server: Server;
  readonly #closing = new AbortController();
  #connection: Socket | null = null;

  /** @param onConnect - called when a program has connected and can be started */
  static async open(path: string, onConnect: () => void): Promise<CallSocket> {
    const socket = new CallSocket(onConnect);
    await once(socket.#server.listen(path), "listening");
    // The sandbox may run as another user. The folder protects the socket from all others.
    await chmod(path, 0o666);
    return socket;
  }

  private constructor(onConnect: () => void) {
    this.#server = createServer((connection) => {
      this.#server.close();
      this.#connection = connection;
      connection.on("error", () => connection.destroy());
      this.#closing.signal.addEventListener("abort", () => connection.destroy(), { once: true });
      onConnect();
    });
    this.#server.maxConnections = 1;
  }

  /**
   * Sends data to the connected process, and waits until it confirms that it has processed them.
   *
   * @throws when the connection ends
   */
  async send(data: AsyncIterable<Uint8Array>): Promise<void> {
    const connection = this.#connection;
    if (connection === null) throw new Error("No program is connected");
    const closed = new AbortController();
    connection.once("close", () => closed.abort(new Error("The program ended before it had its files")));
    const options = { signal: AbortSignal.any([closed.signal, this.#closing.signal]) };
    for await (const chunk of data) if (!connection.write(chunk)) await once(connection, "drain", options);
    const confirmed = once(connection, "readable", options);
    await confirmed;
    if (connection.read() === null) throw new Error("The program ended before it had its files");
  }

  /** Starts the connected program and responds to its calls. */
  start(context: Omit<CallContext, "signal">): void {
    if (this.#connection === null) throw new Error("No program is connected");
    this.#connection.write(START);
    void serveCalls(this.#connection, { ...context, signal: this.#closing.signal });
  }

  /** Closes the connection and aborts all calls in progress. */
  close(): void {
    this.#server.close();
    this.#closing.abort();
  }
}

async function serveCalls(connection: Socket, context: CallContext): Promise<void> {
  const queue = new PQueue({ concurrency: MAX_CONCURRENT_CALLS });
  let calls = 0;
  try {
    const bounds = { maxLineBytes: MAX_CALL_BYTES, maxTotalBytes: MAX_TOTAL_CALL_BYTES };
    for await (const line of readLines(connection, bounds)) {
      const call = parseCall(line);
      calls += 1;
      if (calls > MAX_CALLS) return void connection.end(formatTooManyCalls(call));
      void queue.add(() => respond(connection, call, context));
      // The next call is read when this one has started, so that calls wait in the program and not in our memory.
      await queue.onSizeLessThan(1);
    }
  } catch {
    // The program ended, exceeded a bound or sent something else than a call. There is no one to report it to.
    connection.destroy();
  }
}

/** A call counts as in progress until the program has read the response. Unread responses would fill our memory. */
async function respond(connection: Socket, call: Call, context: CallContext): Promise<void> {
  // A call that was waiting when the program ended must not have effects any more.
  if (context.signal.aborted) return;
  const line = await dispatchCall(call, context);
  await new Promise<void>((resolve) => connection.write(line, () => resolve()));
}

function formatTooManyCalls(call: Call): string {
  return formatErrorResponse(call, "too_many_calls", `A run may make ${MAX_CALLS} calls: continue in another run`);
}

const LINE_FEED = 10;

/**
 * Splits a stream of untrusted bytes into lines without their line feeds. An unfinished last line is left out.
 *
 * @throws {RangeError} as soon as a line exceeds `maxLineBytes`, or the stream `maxTotalBytes`
 */
async function* readLines(
  stream: AsyncIterable<Buffer>,
  { maxLineBytes, maxTotalBytes }: { maxLineBytes: number; maxTotalBytes: number },
): AsyncGenerator<string> {
  const parts: Buffer[] = [];
  let lineBytes = 0;
  let totalBytes = 0;
  for await (const chunk of stream) {
    totalBytes += chunk.length;
    if (totalBytes > maxTotalBytes) throw new RangeError("The stream is too long");
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      if (lineBytes + end - start > maxLineBytes) throw new RangeError("A line is too long");
      yield Buffer.concat([...parts.splice(0), chunk.subarray(start, end)]).toString();
      lineBytes = 0;
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
    lineBytes += chunk.length - start;
    if (lineBytes > maxLineBytes) throw new RangeError("A line is too long");
  }
}
