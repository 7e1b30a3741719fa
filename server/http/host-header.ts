import type { IncomingMessage } from "node:http";

export const INVALID_HOST = "The request must have exactly one Host header, which is not empty.";

/**
 * Whether a request names its host exactly once (RFC 9112, section 3.2). Node uses the first of several `Host` headers, while a
 * proxy in front or an app behind may use another one. HTTP/1.0 has none.
 */
export function namesOneHost({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  let host: string | null = null;
  // `headersDistinct` would process every header of every request for it.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length !== 4 || name.toLowerCase() !== "host") continue;
    if (host !== null) return false;
    host = rawHeaders[index + 1] ?? "";
  }
  return host === null ? httpVersion === "1.0" : host !== "";
}
