import { MAX_OUTPUT_BYTES } from "../../../domain/ports/code-runtime.ts";

/** What a program may print to one stream before it is stopped, in bytes. */
export const FLOOD_BYTES = 1024 * 1024;

/** What is kept of the end, where errors are; the rest of what is kept is of the beginning. */
const END_BYTES = MAX_OUTPUT_BYTES / 4;
const BEGINNING_BYTES = MAX_OUTPUT_BYTES - END_BYTES;

/** Keeps the beginning and the end of one output stream. */
export class CapturedOutput {
  readonly #beginning: Buffer[] = [];
  readonly #onFlood: () => void;
  #end: Buffer[] = [];
  #endBytes = 0;
  #bytes = 0;

  constructor(onFlood: () => void) {
    this.#onFlood = onFlood;
  }

  add(chunk: Uint8Array): void {
    const room = Math.max(0, BEGINNING_BYTES - this.#bytes);
    // Copies, because what is cut off must not be kept from being freed.
    if (room > 0) this.#beginning.push(Buffer.from(chunk.subarray(0, room)));
    if (chunk.length > room) this.#addToEnd(Buffer.from(chunk.subarray(room)));
    this.#bytes += chunk.length;
    if (this.#bytes >= FLOOD_BYTES) this.#onFlood();
  }

  get truncated(): boolean {
    return this.#bytes > MAX_OUTPUT_BYTES;
  }

  /** A character that a cut went through is left out; other bytes that are not UTF-8 are replaced. */
  text(): string {
    const end = Buffer.concat(this.#end).subarray(-END_BYTES);
    if (!this.truncated) return new TextDecoder().decode(Buffer.concat([...this.#beginning, end]));
    const beginning = new TextDecoder().decode(Buffer.concat(this.#beginning), { stream: true });
    const leftOut = `\n[${this.#bytes - MAX_OUTPUT_BYTES} bytes left out here]\n`;
    return `${beginning}${leftOut}${new TextDecoder().decode(end.subarray(firstCharacter(end)))}`;
  }

  #addToEnd(chunk: Buffer): void {
    this.#end.push(chunk);
    this.#endBytes += chunk.length;
    if (this.#endBytes < 2 * END_BYTES) return;
    this.#end = [Buffer.from(Buffer.concat(this.#end).subarray(-END_BYTES))];
    this.#endBytes = END_BYTES;
  }
}

/** Where the first character begins: bytes that continue one are `10xxxxxx`, three at most. */
function firstCharacter(bytes: Buffer): number {
  const at = bytes.subarray(0, 4).findIndex((byte) => byte >> 6 !== 0b10);
  return Math.max(0, at);
}
