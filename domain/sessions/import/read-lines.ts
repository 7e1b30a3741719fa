const LINE_FEED = 0x0a;

export interface Line {
  /** From 1 on. */
  number: number;
  /** `null` for a line that is longer than the limit. */
  text: string | null;
  /** Whether a line feed ends it. Only the last line of a file may have none. */
  isComplete: boolean;
}

/** Splits a file into lines. A line of more than `maxBytes` is not kept in memory. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncIterable<Line> {
  const line = new LineBuffer(maxBytes);
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      line.add(chunk.subarray(start, end));
      yield line.take(true);
      start = end + 1;
    }
    line.add(chunk.subarray(start));
  }
  if (!line.isEmpty) yield line.take(false);
}

/** The bytes of one line. */
class LineBuffer {
  readonly #maxBytes: number;
  #number = 1;
  #parts: Uint8Array[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  add(part: Uint8Array): void {
    this.#bytes += part.length;
    if (this.#bytes > this.#maxBytes) this.#parts = [];
    else if (part.length > 0) this.#parts.push(part);
  }

  /** Returns the line and begins the next one. */
  take(isComplete: boolean): Line {
    const number = this.#number++;
    const text = this.#bytes > this.#maxBytes ? null : toText(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return { number, text, isComplete };
  }
}

/** Most lines are a part of one chunk, which need not be copied first. */
function toText(parts: readonly Uint8Array[]): string {
  const [first] = parts;
  const bytes = parts.length === 1 && first !== undefined ? first : Buffer.concat(parts);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
}
