import type { EntryValue } from "../../../domain/ports/app-entries.ts";

/**
 * Decodes a value of an app, of which only the beginning may have been read.
 *
 * @param beginning - the bytes that were read
 * @param bytes - the size of the whole value
 * @returns text where the bytes are UTF-8 without NUL, otherwise base64
 */
export function decodeBeginning(beginning: Uint8Array, bytes: number): EntryValue {
  const isCut = beginning.length < bytes;
  const text = decodeText(beginning, isCut);
  if (text === null) return { base64: Buffer.from(beginning).toString("base64"), bytes };
  return isCut ? { text, bytes } : text;
}

/** A beginning may end within a character, which is left out. */
function decodeText(bytes: Uint8Array, isCut: boolean): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
  } catch {
    return null;
  }
}
