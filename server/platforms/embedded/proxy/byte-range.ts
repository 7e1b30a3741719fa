import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { Transform } from "node:stream";

/** The header by which the runtime marks the responses of static files. */
const STATIC_FILE = "cf-cache-status";

/** What the runtime sends with a static file, except in response to a request with a range. */
const CACHE_CONTROL = "public, max-age=0, must-revalidate";

/** How a response of a static file changes because of the range that its request has. */
export interface RangedReply {
  status: number;
  /** The headers of the response, as a flat list. */
  headers: string[];
  /** The bytes of the file that the response has, the last one included; `null` for all, or none of a 416 response. */
  bytes: { first: number; last: number } | null;
}

/**
 * Applies the `Range` and `If-Range` headers of a request to the response of a static file, which the runtime always sends
 * in full (RFC 9110, section 14). The runtime compresses no static file, so the bytes are those of the file. Several ranges
 * have the whole file as their response, which the RFC permits.
 *
 * @param headers - the headers of the response, as a flat list
 * @returns `null` if the response is not that of a static file
 */
export function applyRange(
  { method, headers: sent }: Pick<IncomingMessage, "method" | "headers">,
  { statusCode: status, headers: received }: Pick<IncomingMessage, "statusCode" | "headers">,
  headers: readonly string[],
): RangedReply | null {
  if (status !== 200 || received[STATIC_FILE] === undefined || received["content-encoding"] !== undefined) return null;
  const all = [...headers, "accept-ranges", "bytes", ...missingCacheControl(sent, received)];
  const size = Number(received["content-length"] ?? Number.NaN);
  const isWanted = method === "GET" && Number.isSafeInteger(size) && isCurrent(sent["if-range"], received);
  const range = isWanted ? parseRange(sent.range, size) : null;
  if (range === null) return { status, headers: all, bytes: null };
  const other = withoutHeaders(all, ["content-length", "accept-ranges"]);
  if (range === "unsatisfiable") {
    const length = ["content-range", `bytes */${size}`, "content-length", "0"];
    return { status: 416, headers: [...withoutHeaders(other, ["content-type"]), ...length], bytes: null };
  }
  const { first, last } = range;
  const part = ["content-range", `bytes ${first}-${last}/${size}`, "content-length", `${last - first + 1}`];
  return { status: 206, headers: [...other, "accept-ranges", "bytes", ...part], bytes: range };
}

/** Passes the given bytes of a stream on, and ends with the last of them. */
export function sliceBytes({ first, last }: { first: number; last: number }): Transform {
  let position = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      const part = chunk.subarray(Math.max(0, first - position), Math.max(0, last + 1 - position));
      position += chunk.length;
      if (part.length > 0) this.push(part);
      if (position > last) this.emit("complete");
      callback();
    },
  });
}

/** A file that has changed is sent in full. A weak validator never matches, and dates must be equal. */
function isCurrent(
  ifRange: string | string[] | undefined,
  { etag, "last-modified": date }: IncomingHttpHeaders,
): boolean {
  if (ifRange === undefined) return true;
  return ifRange === date || (ifRange === etag && !ifRange.startsWith("W/"));
}

/** @returns `null` if the header is absent or invalid, names another unit, or has several ranges */
function parseRange(
  header: string | undefined,
  size: number,
): { first: number; last: number } | "unsatisfiable" | null {
  const match = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i.exec(header ?? "");
  if (match === null) return null;
  const [, from = "", to = ""] = match;
  if (from === "" && to === "") return null;
  if (from === "") {
    const length = Math.min(Number(to), size);
    return length === 0 ? "unsatisfiable" : { first: size - length, last: size - 1 };
  }
  const first = Number(from);
  if (to !== "" && Number(to) < first) return null;
  if (first >= size) return "unsatisfiable";
  return { first, last: to === "" ? size - 1 : Math.min(Number(to), size - 1) };
}

function missingCacheControl(sent: IncomingHttpHeaders, received: IncomingHttpHeaders): string[] {
  const isOmitted = received["cache-control"] === undefined && sent.range !== undefined;
  return isOmitted && sent.authorization === undefined ? ["cache-control", CACHE_CONTROL] : [];
}

function withoutHeaders(headers: readonly string[], names: readonly string[]): string[] {
  const kept: string[] = [];
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const [name = "", value = ""] = headers.slice(index, index + 2);
    if (!names.includes(name.toLowerCase())) kept.push(name, value);
  }
  return kept;
}
