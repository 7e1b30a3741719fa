import type { Readable } from "node:stream";

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * Yields the lines of a stream, without empty ones, and `null` for a line that exceeds the limit. Reads on only when the
 * consumer has processed a line.
 *
 * @param maxBytes - what is stored of one line at most
 */
export async function* readLines(stream: Readable, maxBytes: number): AsyncGenerator<Buffer | null, void, undefined> {
  let parts: Buffer[] = [];
  let length = 0;
  const endLine = (): Buffer | null => {
    const line = length > maxBytes ? null : Buffer.concat(parts);
    parts = [];
    length = 0;
    return line;
  };
  const add = (part: Buffer): void => {
    length += part.length;
    if (length > maxBytes) parts = [];
    else parts.push(part);
  };
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      add(rest.subarray(0, end));
      const line = endLine();
      if (line === null || !isBlank(line)) yield line;
      rest = rest.subarray(end + 1);
    }
    add(rest);
  }
  const last = endLine();
  if (last === null || !isBlank(last)) yield last;
}

/** An empty line, also one that ends with CR LF. */
function isBlank(line: Buffer): boolean {
  return line.length === 0 || (line.length === 1 && line[0] === CARRIAGE_RETURN);
}
