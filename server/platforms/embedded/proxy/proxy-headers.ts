import type { IncomingMessage } from "node:http";
import { HOP_BY_HOP_HEADERS } from "../../../http/hop-by-hop-headers.ts";
import type { ClientInfo } from "./client-info.ts";

/** Node's server replies to `Expect` itself, so the app must not see it. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([...HOP_BY_HOP_HEADERS, "expect"]);

/** Name and value in turns, as Node's `rawHeaders`. */
export type RawHeaders = string[];

export interface ForwardedIdentity {
  /** A good app token came with the request: the app is told so, and does not see the token. */
  verified: boolean;
  requestId: string;
  clientInfo: ClientInfo;
}

/**
 * The headers that the app sees: those of the request without what belongs to the connection, and without the names
 * that only the platform may set.
 */
export function requestHeaders(
  request: IncomingMessage,
  { verified, requestId, clientInfo }: ForwardedIdentity,
): RawHeaders {
  const headers = keep(request, (name) => !isReserved(name) && !(verified && name === "authorization"));
  headers.push("x-request-id", requestId, "cf-connecting-ip", clientInfo.address);
  headers.push("x-forwarded-for", clientInfo.address, "x-forwarded-proto", clientInfo.scheme);
  if (verified) headers.push("x-service-auth", "app");
  return headers;
}

/** The headers of an app's answer that go on to the clientInfo. */
export function responseHeaders(response: IncomingMessage): RawHeaders {
  return keep(response, () => true);
}

/** How the body is framed towards the app: exactly as it came, so that both ends agree where it stops. */
export function bodyFraming(request: IncomingMessage): RawHeaders {
  if (request.headers["transfer-encoding"] !== undefined) return ["transfer-encoding", "chunked"];
  if (request.headers["content-length"] !== undefined || isBodiless(request.method)) return [];
  return ["content-length", "0"];
}

/** Whether the request brings a body. */
export function hasBody(request: IncomingMessage): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  return encoding !== undefined || (length !== undefined && length !== "0");
}

function isBodiless(method: string | undefined): boolean {
  return method === "GET" || method === "HEAD";
}

/** Where a clientInfo comes from, in the words of proxies and platforms. Whoever sends one could have made it up. */
const CLAIMS = new Set([
  "cf-connecting-ip",
  "cf-connecting-ipv6",
  "cf-ipcountry",
  "cf-pseudo-ipv4",
  "cf-visitor",
  "forwarded",
  "true-client-ip",
  "x-client-ip",
  "x-cluster-client-ip",
  "x-real-ip",
]);

const RESERVED = /^(x-forwarded-|x-service-|mf-)/;

function isReserved(name: string): boolean {
  return name === "x-request-id" || CLAIMS.has(name) || RESERVED.test(name);
}

function keep(message: IncomingMessage, wanted: (name: string) => boolean): RawHeaders {
  const raw = message.rawHeaders;
  const named = connectionOptions(message);
  const kept: RawHeaders = [];
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name, value] = [raw[at] as string, raw[at + 1] as string];
    const key = name.toLowerCase();
    if (!NOT_FORWARDED.has(key) && !named.includes(key) && wanted(key)) kept.push(name, value);
  }
  return kept;
}

const NONE: readonly string[] = [];

/** `Connection` may name further headers of its own. Without a Host or a length no request can be forwarded. */
function connectionOptions(message: IncomingMessage): readonly string[] {
  const value = message.headers.connection;
  if (value === undefined || value === "keep-alive" || value === "close") return NONE;
  return value
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "host" && name !== "content-length");
}
