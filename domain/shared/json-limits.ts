/**
 * What a JSON text may contain, counted before it is parsed. Each value takes memory and time beyond its characters: 8 MiB of empty
 * objects become 300 MB in a second.
 */
const MAX_VALUES = 100_000;
const MAX_DEPTH = 100;

export const TOO_COMPLEX = `has more than ${MAX_VALUES} values, or more than ${MAX_DEPTH} levels`;

const [QUOTE, COMMA, OPEN_LIST, CLOSE_LIST, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT] = [
  0x22, 0x2c, 0x5b, 0x5d, 0x5c, 0x7b, 0x7d,
];

/**
 * Whether a text, if it is JSON, has more values or levels than any document of the service needs, or than `limits`. It is not
 * validated.
 */
export function isTooComplexJson(text: string, limits = { values: MAX_VALUES, depth: MAX_DEPTH }): boolean {
  let values = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = findEndOfString(text, at);
    else if (code === COMMA) values += 1;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      values += 1;
      depth += 1;
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth -= 1;
    else continue;
    if (values > limits.values || depth > limits.depth) return true;
  }
  return false;
}

/** Returns the position of the quotation mark that ends a string, or the end of the text. */
function findEndOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
