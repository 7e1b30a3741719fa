import { HOP_BY_HOP_HEADERS } from "../hop-by-hop-headers.ts";

// The rules about headers between clients and apps, which every edge platform applies.

/** Node's server replies to `Expect` itself, so the app must not see it. */
export const NOT_FORWARDED: ReadonlySet<string> = new Set([...HOP_BY_HOP_HEADERS, "expect"]);

/** The headers that frame a request. An app that folds names must not read another spelling as one of them. */
const FRAMING_HEADERS: ReadonlySet<string> = new Set(["host", "content-length"]);

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
 * The headers of a request that the service itself sends to an app: the host, and those by which the edge proxy names the client.
 *
 * @param url - the public URL of the app
 */
export function ownRequestHeaders(url: string): Record<string, string> {
  const { host, protocol } = new URL(url);
  const scheme = protocol.slice(0, -1);
  return { host, "x-forwarded-for": "127.0.0.1", "x-forwarded-proto": scheme, "x-forwarded-host": host };
}

/** The URL of an app that only the service requests: a name below `localhost`. Some apps respond to no other host name. */
export const ISOLATED_URL = "http://app.localhost";

/**
 * Whether an app receives a header of a request, besides those of the connection.
 *
 * @param name - in lower case
 * @param verified - whether the request has the app's token, which the app must not see
 */
export function isRequestHeaderForwarded(name: string, value: string, verified: boolean): boolean {
  return !isReserved(name) && !(name === "authorization" && (verified || SERVICE_TOKEN.test(value)));
}

/**
 * Whether a client receives a header of an app's response.
 *
 * @param name - in lower case
 * @param appsDomain - the domain of all apps, in lower case and without port; a cookie for it would be sent to the other apps
 */
export function isResponseHeaderForwarded(name: string, value: string, appsDomain: string): boolean {
  return name !== "set-cookie" || !isSharedCookie(value, appsDomain);
}

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
