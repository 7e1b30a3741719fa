import { MAX_OUTPUT_BYTES } from "../../../domain/ports/code-runtime.ts";

/** A program that prints more than this to one stream is stopped. In bytes. */
export const MAX_PRINTED_BYTES = 1024 * 1024;

/** How much of the end is kept, where errors are. The other kept bytes are from the beginning. */
const END_BYTES = MAX_OUTPUT_BYTES / 4;
const BEGINNING_BYTES = MAX_OUTPUT_BYTES - END_BYTES;

/** Keeps the beginning and the end of one output stream. */
export class CapturedOutput {
  readonly #beginning: Buffer[] = [];
  readonly #onLimit: () => void;
  #end: Buffer[] = [];
  #endBytes = 0;
  #bytes = 0;

  /** @param onLimit - called when the stream exceeds `MAX_PRINTED_BYTES`, possibly several times */
  constructor(onLimit: () => void) {
    this.#onLimit = onLimit;
  }

  add(chunk: Uint8Array): void {
    const available = Math.max(0, BEGINNING_BYTES - this.#bytes);
    // Copies, because a view would keep the whole chunk in memory.
    if (available > 0) this.#beginning.push(Buffer.from(chunk.subarray(0, available)));
    if (chunk.length > available) this.#addToEnd(Buffer.from(chunk.subarray(available)));
    this.#bytes += chunk.length;
    if (this.#bytes >= MAX_PRINTED_BYTES) this.#onLimit();
  }

  get truncated(): boolean {
    return this.#bytes > MAX_OUTPUT_BYTES;
  }

  /** Decodes the output. A character that a cut divides is left out; other invalid UTF-8 is replaced. */
  text(): string {
    const end = Buffer.concat(this.#end).subarray(-END_BYTES);
    if (!this.truncated) return new TextDecoder().decode(Buffer.concat([...this.#beginning, end]));
    // In stream mode, the decoder leaves out an incomplete character at the end.
    const beginning = new TextDecoder().decode(Buffer.concat(this.#beginning), { stream: true });
    const note = `\n[${this.#bytes - MAX_OUTPUT_BYTES} bytes left out here]\n`;
    return `${beginning}${note}${new TextDecoder().decode(end.subarray(findFirstCharacter(end)))}`;
  }

  #addToEnd(chunk: Buffer): void {
    this.#end.push(chunk);
    this.#endBytes += chunk.length;
    if (this.#endBytes < 2 * END_BYTES) return;
    this.#end = [Buffer.from(Buffer.concat(this.#end).subarray(-END_BYTES))];
    this.#endBytes = END_BYTES;
  }
}

/** Finds where the first whole character starts. Continuation bytes have the form `10xxxxxx`; at most three follow. */
function findFirstCharacter(bytes: Buffer): number {
  const at = bytes.subarray(0, 4).findIndex((byte) => byte >> 6 !== 0b10);
  return Math.max(0, at);
}
