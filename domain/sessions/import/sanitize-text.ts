const CUT = "\n[The rest is not imported.]";
const REPLACEMENT = "\uFFFD";

/** Replaces what the database cannot store: NUL characters and unpaired surrogates. */
export function toStorableText(text: string): string {
  const wellFormed = text.toWellFormed();
  return wellFormed.includes("\0") ? wellFormed.replaceAll("\0", REPLACEMENT) : wellFormed;
}

/** Cuts a text that has more bytes in UTF-8 than `limit`, at the end of a character, and says so. */
export function truncateBytes(text: string, limit: number): string {
  // A character has at most three bytes for each of its UTF-16 units.
  if (text.length * 3 <= limit || Buffer.byteLength(text) <= limit) return text;
  const bytes = Buffer.from(text.slice(0, limit));
  let end = limit - CUT.length;
  while (isContinuation(bytes.readUInt8(end))) end--;
  return bytes.toString("utf8", 0, end) + CUT;
}

/** Whether a byte is one of a character after its first, which begin with the bits 10. */
function isContinuation(byte: number): boolean {
  return (byte & 0b1100_0000) === 0b1000_0000;
}
