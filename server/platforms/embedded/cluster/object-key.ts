const MAX_KEY_BYTES = 1024;

/**
 * Whether a key is a relative path that every S3 server, proxy and URL parser reads in the same way: visible characters without
 * `%` and `\`, and no empty, `.` or `..` segment.
 */
export function isPlainKey(key: string): boolean {
  if (Buffer.byteLength(key) > MAX_KEY_BYTES || !key.isWellFormed() || /[\p{C}%\\]/u.test(key)) return false;
  return key.split("/").every((segment) => segment !== "" && segment !== "." && segment !== "..");
}

/** Whether a prefix is empty, or a key with `/` at its end. */
export function isFolder(prefix: string): boolean {
  return prefix === "" || (prefix.endsWith("/") && isPlainKey(prefix.slice(0, -1)));
}

/** Encodes a text as signature version 4 does: all but the unreserved characters of RFC 3986. */
function encodeText(text: string): string {
  const toHex = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, toHex);
}

/** Encodes a key for the path of a URL. */
export function encodeKey(key: string): string {
  return key.split("/").map(encodeText).join("/");
}

/** Returns the query of a URL, sorted by name, without `?`. */
export function encodeQuery(query: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(query).map(([name, value]) => `${encodeText(name)}=${encodeText(value)}`);
  return pairs.toSorted().join("&");
}
