import { stripVTControlCharacters } from "node:util";

// oxlint-disable-next-line no-control-regex -- the pattern removes control characters
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/** Characters that reorder or hide the text around them. */
const INVISIBLE = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns a text without control codes, lone surrogates and hidden characters. Every line break becomes `\n`. */
export function toPlainText(text: string): string {
  return stripControlCodes(text.toWellFormed()).replace(INVISIBLE, "");
}

/** Removes what only a terminal understands, such as colors. Every line break becomes `\n`. */
export function stripControlCodes(text: string): string {
  const lines = stripVTControlCharacters(text).replaceAll("\r\n", "\n").replaceAll("\r", "\n");
  return lines.replace(CONTROL, "");
}

/** Decodes UTF-8. Returns `undefined` for bytes that are not text. A byte order mark stays. */
export function decodeText(content: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}
