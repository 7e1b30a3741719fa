import type { ClientRequestArgs } from "node:http";
import { Socket } from "node:net";

type WriteCallback = (error?: Error | null) => void;

/**
 * A connection that continues to read after the other side has stopped reading.
 *
 * An app that does not read the body of a request responds and closes the connection. A write to it then fails, which
 * would destroy a plain socket together with a response that has arrived but was not read yet. This socket ignores the
 * failed write. If there is no response either, reading fails.
 */
class HalfOpenSocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, callback: WriteCallback): void {
    super._write(chunk, encoding, ignoreDisconnect(callback));
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], callback: WriteCallback): void {
    super._writev?.(chunks, ignoreDisconnect(callback));
  }
}

/** For the `createConnection` option of an HTTP request without an agent. */
export function connectHalfOpen({ host, port }: ClientRequestArgs): Socket {
  return new HalfOpenSocket().connect(Number(port), host ?? "127.0.0.1");
}

function ignoreDisconnect(callback: WriteCallback): WriteCallback {
  return (error) => callback(isDisconnect(error) ? null : error);
}

/** Whether an error means that the other side closed the connection. */
export function isDisconnect(error: NodeJS.ErrnoException | null | undefined): boolean {
  return ["ECONNRESET", "EPIPE"].includes(error?.code ?? "");
}
