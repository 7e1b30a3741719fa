import type { Socket } from "node:net";

/** What a gateway may send without being asked, within {@link REFILL_MS}. */
const UNREQUESTED_BYTES = 512 * 1024;
const REFILL_MS = 10_000;
/** The most that unfinished messages of all connections together may occupy. */
const MAX_BUFFERED_BYTES = 256 * 1024 * 1024;

/** The number of bytes in unfinished messages, of all connections that share it. */
export interface BufferedBytes {
  total: number;
}

/**
 * Limits what a gateway sends, by the bytes that arrive: a little without a request, and one message of the largest size for
 * each request. So neither a large message nor many small ones occupy the memory or the processor of the service.
 */
export class ReceiveLimiter implements Disposable {
  readonly #requestBytes: number;
  readonly #buffered: BufferedBytes;
  readonly #onExceeded: () => void;
  readonly #refill: NodeJS.Timeout;
  #remaining = UNREQUESTED_BYTES;
  #waiting = 0;
  #unfinished = 0;

  constructor(requestBytes: number, buffered: BufferedBytes, onExceeded: () => void) {
    this.#requestBytes = requestBytes;
    this.#buffered = buffered;
    this.#onExceeded = onExceeded;
    this.#refill = setInterval(() => {
      this.#remaining = Math.max(this.#remaining, UNREQUESTED_BYTES);
    }, REFILL_MS).unref();
  }

  /** Counts what arrives on a connection. */
  watch(socket: Socket): void {
    socket.on("data", (chunk: Buffer) => this.#count(chunk.length));
  }

  /** Must be called when a request is sent, and `endRequest` when it has ended. */
  startRequest(): void {
    this.#waiting += 1;
    this.#remaining += this.#requestBytes;
  }

  endRequest(): void {
    this.#waiting -= 1;
    this.#remaining = Math.min(this.#remaining, UNREQUESTED_BYTES + this.#waiting * this.#requestBytes);
  }

  /** Must be called when a message is complete. */
  finishMessage(): void {
    this.#buffered.total -= this.#unfinished;
    this.#unfinished = 0;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#refill);
    this.finishMessage();
  }

  #count(bytes: number): void {
    this.#remaining -= bytes;
    this.#unfinished += bytes;
    this.#buffered.total += bytes;
    if (this.#remaining < 0 || this.#buffered.total > MAX_BUFFERED_BYTES) this.#onExceeded();
  }
}
