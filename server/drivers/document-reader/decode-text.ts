import { unsupported } from "./detect-type.ts";

/** How many bytes at the beginning of a page may declare its encoding (HTML standard, section 13.2.3.2). */
const DECLARATION_BYTES = 1024;

/** From how many zero bytes on a text without byte order mark is UTF-16: one of four. */
const ZERO_SHARE = 0.25;

/**
 * Decodes a text: by its byte order mark, as UTF-8, as UTF-16, in the encoding that a page declares, or as Windows-1252,
 * which contains Latin-1.
 *
 * @throws {ServiceError} `invalid` for bytes that are not text
 */
export function decodeText(content: Uint8Array, { isHtml }: { isHtml: boolean }): string {
  const text = decodeMarked(content) ?? decodeUtf8(content) ?? decodeOther(content, isHtml);
  if (text === null || isBinary(text)) throw unsupported("contains no text");
  return text;
}

function decodeMarked(content: Uint8Array): string | null {
  const [first, second] = content;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(content);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(content);
  return null;
}

function decodeUtf8(content: Uint8Array): string | null {
  // A text in UTF-16 that is all ASCII is valid UTF-8 too.
  if (content.subarray(0, DECLARATION_BYTES).includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(content);
  } catch {
    return null;
  }
}

function decodeOther(content: Uint8Array, isHtml: boolean): string | null {
  const beginning = content.subarray(0, DECLARATION_BYTES);
  const zeros = [0, 0];
  for (const [index, byte] of beginning.entries()) if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = zeros;
  if (odd > beginning.length * ZERO_SHARE && even < odd / 10) return new TextDecoder("utf-16le").decode(content);
  if (even > beginning.length * ZERO_SHARE && odd < even / 10) return new TextDecoder("utf-16be").decode(content);
  if (even + odd > 0) return null;
  const declared = isHtml
    ? /charset\s*=\s*["']?([\w-]{1,40})/i.exec(Buffer.from(beginning).toString("latin1"))?.[1]
    : undefined;
  return new TextDecoder(declaredEncoding(declared)).decode(content);
}

/** Returns the declared encoding; Windows-1252 for an unknown one, and for UTF-8, which the bytes are not. */
function declaredEncoding(label = ""): string {
  try {
    const { encoding } = new TextDecoder(label);
    return encoding === "utf-8" ? "windows-1252" : encoding;
  } catch {
    return "windows-1252";
  }
}

/** Whether a decoded file has more control characters than a text would have. */
function isBinary(text: string): boolean {
  const sample = text.slice(0, 8192);
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  const controls = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/g)?.length ?? 0;
  return controls > sample.length / 50;
}
