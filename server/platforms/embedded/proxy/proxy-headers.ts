import type { IncomingMessage } from "node:http";
import { HOP_BY_HOP_HEADERS } from "../../../http/hop-by-hop-headers.ts";
import type { ClientInfo } from "./client-info.ts";

/** Node's server replies to `Expect` itself, so the app must not see it. */
const NOT_FORWARDED: ReadonlySet<string> = new Set([...HOP_BY_HOP_HEADERS, "expect"]);

/** The headers that frame a request. An app that folds names must not read another spelling as one of them. */
const FRAMING_HEADERS: ReadonlySet<string> = new Set(["host", "content-length"]);

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
}

/** The request headers that the app receives: the end-to-end headers, with reserved names set by the platform only. */
export function requestHeaders(
  request: IncomingMessage,
  { verified, requestId, clientInfo }: ForwardingContext,
): RawHeaders {
  const headers = endToEndHeaders(
    request,
    (name, value) => !isReserved(name) && !(name === "authorization" && (verified || SERVICE_TOKEN.test(value))),
  );
  headers.push("x-request-id", requestId, "cf-connecting-ip", clientInfo.address);
  headers.push("x-forwarded-for", clientInfo.address, "x-forwarded-proto", clientInfo.scheme);
  if (verified) headers.push("x-service-auth", "app");
  return headers;
}

/**
 * The headers of an app's response that the client receives.
 *
 * @param appsDomain - the domain of all apps; a cookie for it would be sent to the other apps
 */
export function responseHeaders(response: IncomingMessage, appsDomain: string): RawHeaders {
  return endToEndHeaders(response, (name, value) => name !== "set-cookie" || !isSharedCookie(value, appsDomain));
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

/** Headers by which proxies and platforms name the client. A client can forge them, so they are removed. */
const CLIENT_HEADERS = new Set([
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

/** A token of the service anywhere in an `Authorization` header. Apps must not receive one, not even their own. */
const SERVICE_TOKEN = /(^|[\s,=:"'])sv[akpg]_/i;

/**
 * @param name - in lower case. Many servers treat `x_service_auth` and `x.service.auth` as `x-service-auth`, so each other
 *   character counts as a hyphen.
 */
function isReserved(name: string): boolean {
  const isPlain = !/[^a-z0-9-]/.test(name);
  const folded = isPlain ? name : name.replaceAll(/[^a-z0-9]/g, "-");
  if (folded === "x-request-id" || CLIENT_HEADERS.has(folded) || RESERVED.test(folded)) return true;
  return !isPlain && (NOT_FORWARDED.has(folded) || FRAMING_HEADERS.has(folded));
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

/**
 * Whether a `Set-Cookie` header is for the domain of all apps or for a parent of it. Browsers would send the cookie to
 * every app, unless the Public Suffix List contains the domain.
 *
 * @param appsDomain - in lower case, without port
 */
export function isSharedCookie(setCookie: string, appsDomain: string): boolean {
  const attributes = setCookie.split(";").slice(1);
  return attributes.some((attribute) => {
    const [name = "", value = ""] = attribute.split("=", 2);
    if (name.trim().toLowerCase() !== "domain") return false;
    const domain = value
      .trim()
      .toLowerCase()
      .replace(/^\.+|(?<!\.)\.+$/g, "");
    return domain !== "" && `.${appsDomain}`.endsWith(`.${domain}`);
  });
}
