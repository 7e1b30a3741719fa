const LINE_FEED = 0x0a;

export interface Line {
  /** From 1 on. */
  number: number;
  /** `null` for a line that is longer than the limit. */
  text: string | null;
  /** Whether a line feed ends it. Only the last line of a file may have none. */
  isComplete: boolean;
}

/**
 * Splits a file into lines. A line of more than `maxBytes` is not kept in memory. No chunk is used after the next one is
 * requested, so `chunks` may use the same memory again.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncIterable<Line> {
  const line = new LineBuffer(maxBytes);
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield line.end(chunk.subarray(start, end), true);
      start = end + 1;
    }
    line.add(chunk.subarray(start));
  }
  if (!line.isEmpty) yield line.end(new Uint8Array(), false);
}

const INITIAL_BYTES = 64 * 1024;

/** The bytes of one line. */
class LineBuffer {
  readonly #maxBytes: number;
  #number = 1;
  /** The beginning of the line, if it was in earlier chunks. Its memory is used for all lines. */
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES);
  #length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#length === 0;
  }

  add(part: Uint8Array): void {
    const length = this.#length + part.length;
    if (length <= this.#maxBytes) {
      this.#reserve(length);
      this.#bytes.set(part, this.#length);
    }
    this.#length = length;
  }

  /** Returns the line that ends with `part`, and begins the next one. */
  end(part: Uint8Array, isComplete: boolean): Line {
    const number = this.#number++;
    // Most lines are a part of one chunk, which need not be copied.
    if (this.isEmpty && part.length <= this.#maxBytes) return { number, text: toText(part), isComplete };
    this.add(part);
    const text = this.#length > this.#maxBytes ? null : toText(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return { number, text, isComplete };
  }

  #reserve(length: number): void {
    if (length <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(Math.max(length, 2 * this.#bytes.length), this.#maxBytes));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

function toText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString("utf8");
}
