const LINE_FEED = 10;

/**
 * The lines of a stream of untrusted bytes, without their ends; an unfinished last one is left out.
 *
 * @throws {RangeError} as soon as one line is longer than `maxLineBytes`, or all together than `maxBytes`
 */
export async function* linesOf(
  stream: AsyncIterable<Buffer>,
  { maxLineBytes, maxBytes }: { maxLineBytes: number; maxBytes: number },
): AsyncGenerator<string> {
  const parts: Buffer[] = [];
  let [lineBytes, bytes] = [0, 0];
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new RangeError("More than may be sent in all");
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      if (lineBytes + end - start > maxLineBytes) throw new RangeError("A line is too long");
      yield Buffer.concat([...parts.splice(0), chunk.subarray(start, end)]).toString();
      lineBytes = 0;
      start = end + 1;
    }
    parts.push(chunk.subarray(start));
    lineBytes += chunk.length - start;
    if (lineBytes > maxLineBytes) throw new RangeError("A line is too long");
  }
}
