import { MAX_OUTPUT_BYTES } from "../../../domain/ports/code-runtime.ts";

/** What a program may print to one stream before it is stopped, in bytes. */
export const FLOOD_BYTES = 1024 * 1024;

/** Keeps the beginning of one output stream. */
export class CapturedOutput {
  readonly #kept: Buffer[] = [];
  readonly #onFlood: () => void;
  #bytes = 0;

  constructor(onFlood: () => void) {
    this.#onFlood = onFlood;
  }

  add(chunk: Uint8Array): void {
    // A copy, because what is cut off must not be kept from being freed.
    if (this.#bytes < MAX_OUTPUT_BYTES) this.#kept.push(Buffer.from(chunk.subarray(0, MAX_OUTPUT_BYTES - this.#bytes)));
    this.#bytes += chunk.length;
    if (this.#bytes >= FLOOD_BYTES) this.#onFlood();
  }

  get truncated(): boolean {
    return this.#bytes > MAX_OUTPUT_BYTES;
  }

  /** A character that the cut went through is left out; other bytes that are not UTF-8 are replaced. */
  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#kept), { stream: this.truncated });
  }
}
