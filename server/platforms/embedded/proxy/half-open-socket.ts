import type { ClientRequestArgs } from "node:http";
import { Socket } from "node:net";

type Written = (error?: Error | null) => void;

/**
 * A connection that goes on reading when the other side no longer takes what is written.
 *
 * An app that does not read its request's body answers and hangs up. A write that meets the closed connection would
 * destroy a plain socket, and with it the answer that has arrived but was not read yet. Here the write is forgotten; if
 * there is no answer either, reading fails and says so.
 */
class PatientSocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, written: Written): void {
    super._write(chunk, encoding, forgetHangUp(written));
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], written: Written): void {
    super._writev?.(chunks, forgetHangUp(written));
  }
}

/** For `createConnection` of an HTTP request that has no agent. */
export function connectHalfOpen({ host, port }: ClientRequestArgs): Socket {
  return new PatientSocket().connect(Number(port), host ?? "127.0.0.1");
}

function forgetHangUp(written: Written): Written {
  return (error) => written(isHangUp(error) ? null : error);
}

/** The other side closed the connection. */
export function isHangUp(error: NodeJS.ErrnoException | null | undefined): boolean {
  return ["ECONNRESET", "EPIPE"].includes(error?.code ?? "");
}
