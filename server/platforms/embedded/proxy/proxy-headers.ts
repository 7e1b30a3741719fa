import type { IncomingMessage } from "node:http";
import {
  isRequestHeaderForwarded,
  isResponseHeaderForwarded,
  NOT_FORWARDED,
} from "../../../http/edge/forwarded-headers.ts";
import type { ClientInfo } from "./client-info.ts";

/** Alternating names and values, like Node's `rawHeaders`. */
export type RawHeaders = string[];

/** What the edge proxy knows about a request that it forwards. */
export interface ForwardingContext {
  /** The request has a valid app token. The app learns this, and does not see the token. */
  verified: boolean;
  requestId: string;
  clientInfo: ClientInfo;
  /** The domain of all apps, in lower case and without port. */
  appsDomain: string;
  /** The header that names the client to the edge which runs the app; absent if this edge runs it. */
  edgeHeader?: readonly [name: string, value: string] | undefined;
}

/** The request headers that the app receives: the end-to-end headers, with reserved names set by the platform only. */
export function requestHeaders(
  request: IncomingMessage,
  { verified, requestId, clientInfo, edgeHeader }: ForwardingContext,
): RawHeaders {
  if (edgeHeader !== undefined) return headersForEdge(request, requestId, edgeHeader);
  const headers = endToEndHeaders(request, (name, value) => isRequestHeaderForwarded(name, value, verified));
  headers.push("x-request-id", requestId, "cf-connecting-ip", clientInfo.address);
  headers.push("x-forwarded-for", clientInfo.address, "x-forwarded-proto", clientInfo.scheme);
  const { host } = request.headers;
  if (host !== undefined) headers.push("x-forwarded-host", host);
  if (verified) headers.push("x-service-auth", "app");
  return headers;
}

/** The headers that another edge receives. It checks the app token itself, so it gets it. */
function headersForEdge(
  request: IncomingMessage,
  requestId: string,
  edgeHeader: readonly [name: string, value: string],
): RawHeaders {
  const isForwarded = (name: string, value: string) =>
    name === "authorization" || isRequestHeaderForwarded(name, value, false);
  return [...endToEndHeaders(request, isForwarded), "x-request-id", requestId, ...edgeHeader];
}

/**
 * The headers of an app's response that the client receives.
 *
 * @param appsDomain - the domain of all apps; a cookie for it would be sent to the other apps
 */
export function responseHeaders(response: IncomingMessage, appsDomain: string): RawHeaders {
  return endToEndHeaders(response, (name, value) => isResponseHeaderForwarded(name, value, appsDomain));
}

/** The headers that frame the body towards the app. The framing is unchanged, so both sides agree where the body ends. */
export function bodyFraming(request: IncomingMessage): RawHeaders {
  if (request.headers["transfer-encoding"] !== undefined) return ["transfer-encoding", "chunked"];
  if (request.headers["content-length"] !== undefined || isBodiless(request.method)) return [];
  return ["content-length", "0"];
}

/** Whether the request has a body. */
export function hasBody(request: IncomingMessage): boolean {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  return encoding !== undefined || (length !== undefined && length !== "0");
}

function isBodiless(method: string | undefined): boolean {
  return method === "GET" || method === "HEAD";
}

function endToEndHeaders(message: IncomingMessage, isForwarded: (name: string, value: string) => boolean): RawHeaders {
  const raw = message.rawHeaders;
  const connectionHeaders = readConnectionOptions(message);
  const headers: RawHeaders = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name, value] = [raw[index] as string, raw[index + 1] as string];
    const key = name.toLowerCase();
    if (!NOT_FORWARDED.has(key) && !connectionHeaders.includes(key) && isForwarded(key, value))
      headers.push(name, value);
  }
  return headers;
}

const NONE: readonly string[] = [];

/** Reads further hop-by-hop headers from `Connection`. It cannot remove Host or the length: forwarding needs them. */
function readConnectionOptions(message: IncomingMessage): readonly string[] {
  const value = message.headers.connection;
  if (value === undefined || value === "keep-alive" || value === "close") return NONE;
  return value
    .toLowerCase()
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "host" && name !== "content-length");
}
