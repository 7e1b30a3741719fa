import { Readable } from "node:stream";
import type { StreamChunk, StreamEvent, EventReader } from "../../../domain/shared/stream-events.ts";

const COMMENT = ": keep-alive\n\n";
/** In bytes. A reader that is slower gets its next events later; they are not stored for it. */
const MAX_BUFFERED = 16 * 1024;
/** After so many keep-alive intervals without progress, a reader counts as gone. */
const MAX_STALLED = 4;

/** The body of a response with server-sent events. It reads the source as fast as the client reads the response. */
export class EventStream extends Readable {
  readonly #source: EventReader;
  readonly #closing = new AbortController();
  #isReading = false;
  #hasEnded = false;
  #hasProgressed = true;
  #stalled = 0;

  constructor(source: EventReader) {
    super({ highWaterMark: MAX_BUFFERED });
    this.#source = source;
    // The client gets the headers of the response with the first bytes of the body.
    this.push(COMMENT);
  }

  /** Sends a comment, since proxies close connections without traffic. Ends the stream if its client reads nothing. */
  keepAlive(): void {
    if (this.readableLength === 0 && !this.#hasEnded) this.push(COMMENT);
    else if (!this.#hasProgressed && ++this.#stalled >= MAX_STALLED) this.destroy();
    if (this.#hasProgressed) this.#stalled = 0;
    this.#hasProgressed = false;
  }

  /** Ends the response without the event `end`, so the client continues later. */
  end(): void {
    this.#isReading = true;
    this.#hasEnded = true;
    this.#closing.abort();
    this.push(null);
  }

  override _read(): void {
    this.#hasProgressed = true;
    if (this.#isReading) return;
    this.#isReading = true;
    void this.#readNext();
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#closing.abort();
    this.#source.close();
    callback(error);
  }

  async #readNext(): Promise<void> {
    try {
      const chunk = await this.#source.next(this.#closing.signal);
      if (this.#closing.signal.aborted) return;
      this.#isReading = false;
      this.push(encode(chunk));
      if (chunk.at(-1)?.type === "end") this.end();
    } catch (error) {
      if (!this.#closing.signal.aborted) this.destroy(error as Error);
    }
  }
}

/** Many readers get the same chunk. */
const encoded = new WeakMap<StreamChunk, Buffer>();

function encode(chunk: StreamChunk): Buffer {
  const bytes = encoded.get(chunk) ?? Buffer.from(chunk.map(formatEvent).join(""));
  encoded.set(chunk, bytes);
  return bytes;
}

/** Lines are events without a name, which browsers call `message`. */
function formatEvent({ id, type, data }: StreamEvent): string {
  const fields = [id === null ? "" : `id: ${id}\n`, type === "line" ? "" : `event: ${type}\n`];
  return `${fields.join("")}data: ${data}\n\n`;
}
