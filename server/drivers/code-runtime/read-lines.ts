const LINE_FEED = 10;

/**
 * Splits a stream of untrusted bytes into lines without their line feeds. An unfinished last line is left out.
 *
 * @throws {RangeError} as soon as a line exceeds `maxLineBytes`, or the stream `maxTotalBytes`
 */
export async function* readLines(
  stream: AsyncIterable<Buffer>,
  { maxLineBytes, maxTotalBytes }: { maxLineBytes: number; maxTotalBytes: number },
): AsyncGenerator<string> {
  const parts: Buffer[] = [];
  let lineBytes = 0;
  let totalBytes = 0;
  for await (const chunk of stream) {
    totalBytes += chunk.length;
    if (totalBytes > maxTotalBytes) throw new RangeError("The stream is too long");
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
