// Runs on Cloudflare, in front of all apps, in place of the edge proxy. It is bundled and uploaded when the service starts.
import { createHmac, timingSafeEqual } from "node:crypto";
import type { AuthEntries, AuthEntry } from "../../../../domain/ports/auth-entries.ts";
import { hasValidPort, INVALID_PORT, readSlug } from "../../../http/edge/app-host.ts";
import { edgeErrorBody, INVALID_APP_TOKEN, INVALID_TOKEN_HEADERS, NO_APP } from "../../../http/edge/error-body.ts";
import {
  isRequestHeaderForwarded,
  isResponseHeaderForwarded,
  NOT_FORWARDED,
} from "../../../http/edge/forwarded-headers.ts";
import { readAppToken, verifyAppToken } from "../../../http/edge/verify-app-token.ts";
import { readRequestId } from "../../../http/request-id.ts";
import { AUTH_PREFIX, PROBE_HEADER, PROBE_RESULT_HEADER, SLUG_PREFIX, type SlugEntry } from "./edge-entry.ts";

interface Environment {
  APPS: { get(name: string): { fetch(request: Request): Promise<Response> } };
  ENTRIES: { get(key: string, options: { type: "text"; cacheTtl: number }): Promise<string | null> };
  /** The domain of all apps, in lower case and without port. */
  DOMAIN: string;
  PROBE_SECRET: string;
}

/** How long a location keeps an entry that it has read. */
const CACHE_SECONDS = 60;
/** Upgrades of connections are not hop-by-hop for a Worker: the runtime handles them. */
const UPGRADE = "upgrade";

const worker = {
  async fetch(request: Request, env: Environment): Promise<Response> {
    const { host } = new URL(request.url);
    const slug = readSlug(host, env.DOMAIN);
    if (slug === null) return reject(request, 404, NO_APP);
    if (!hasValidPort(host)) return reject(request, 400, INVALID_PORT);
    const probed = readProbe(request.headers.get(PROBE_HEADER), env);
    if (probed !== null) return probe(request, probed, env);
    const text = await env.ENTRIES.get(SLUG_PREFIX + slug, { type: "text", cacheTtl: CACHE_SECONDS });
    const entry = text === null ? null : (JSON.parse(text) as SlugEntry);
    const token = readAppToken(request.headers.get("authorization") ?? undefined);
    const verified = token !== null && entry !== null && (await verifyAppToken(authEntries(env), entry.appId, token));
    if (token !== null && entry !== null && !verified)
      return reject(request, 401, INVALID_APP_TOKEN, INVALID_TOKEN_HEADERS);
    if (entry?.restriction && !(entry.restriction.servesOwner && verified))
      return reject(request, 507, entry.restriction.message);
    return forward(request, { script: slug, verified, env });
  },
};

// oxlint-disable-next-line import/no-default-export -- the runtime calls the default export of a Worker
export default worker;

interface Forwarding {
  script: string;
  verified: boolean;
  env: Environment;
}

async function forward(request: Request, { script, verified, env }: Forwarding): Promise<Response> {
  const requestId = requestIdOf(request);
  try {
    const response = await env.APPS.get(script).fetch(toAppRequest(request, verified, requestId));
    return toClientResponse(response, env.DOMAIN, requestId);
  } catch (error) {
    if (isAbsent(error)) return reject(request, 404, NO_APP);
    return reject(request, 500, "The app failed.", { "x-request-id": requestId });
  }
}

/** Sends a request of the service to a version of an app. Returns the status, or the error of the app. */
async function probe(request: Request, script: string, env: Environment): Promise<Response> {
  try {
    const response = await env.APPS.get(script).fetch(toAppRequest(request, false, requestIdOf(request)));
    // The service does not need the rest of the response.
    await response.body?.cancel();
    return new Response(null, { status: response.status, headers: { [PROBE_RESULT_HEADER]: "responded" } });
  } catch (error) {
    const result = isAbsent(error) ? "missing" : "failed";
    return new Response(String(error).slice(0, 2000), { status: 500, headers: { [PROBE_RESULT_HEADER]: result } });
  }
}

function toAppRequest(request: Request, verified: boolean, requestId: string): Request {
  const headers = new Headers();
  for (const [name, value] of request.headers)
    if (isEndToEnd(name) && isRequestHeaderForwarded(name, value, verified)) headers.append(name, value);
  const client = request.headers.get("cf-connecting-ip") ?? "";
  headers.set("x-request-id", requestId);
  headers.set("x-forwarded-for", client);
  headers.set("cf-connecting-ip", client);
  const { protocol, host } = new URL(request.url);
  headers.set("x-forwarded-proto", protocol.slice(0, -1));
  headers.set("x-forwarded-host", host);
  if (verified) headers.set("x-service-auth", "app");
  return new Request(request, { headers, redirect: "manual" });
}

function toClientResponse(response: Response, domain: string, requestId: string): Response {
  // A response with a WebSocket cannot be copied.
  if (response.status === 101) return response;
  const headers = new Headers();
  for (const [name, value] of response.headers)
    if (isResponseHeaderForwarded(name, value, domain) && name !== PROBE_RESULT_HEADER) headers.append(name, value);
  if (!headers.has("x-request-id")) headers.set("x-request-id", requestId);
  const { status, statusText } = response;
  return new Response(response.body, { status, statusText, headers, ...encoding(headers) });
}

/** An encoded body stays as it is. Without the option, the runtime would encode it a second time. */
function encoding(headers: Headers): { encodeBody?: "manual" } {
  return headers.has("content-encoding") ? { encodeBody: "manual" } : {};
}

function isEndToEnd(name: string): boolean {
  return name === UPGRADE || !NOT_FORWARDED.has(name);
}

function reject(request: Request, status: number, message: string, headers: Record<string, string> = {}): Response {
  const { contentType, body } = edgeErrorBody(message, request.headers.get("accept") ?? undefined);
  return new Response(body, { status, headers: { "content-type": contentType, vary: "accept", ...headers } });
}

/** The error of a dispatch namespace without such a script. */
function isAbsent(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith("Worker not found");
}

function authEntries({ ENTRIES }: Environment): Pick<AuthEntries, "get"> {
  return {
    async get(appId) {
      const text = await ENTRIES.get(AUTH_PREFIX + appId, { type: "text", cacheTtl: CACHE_SECONDS });
      return text === null ? null : { appId, ...(JSON.parse(text) as Omit<AuthEntry, "appId">) };
    },
  };
}

/** Returns the name of the script that a probe of the service is for; `null` for every other request. */
function readProbe(header: string | null, { PROBE_SECRET }: Environment): string | null {
  const [script = "", signature = ""] = header?.split(" ") ?? [];
  const expected = createHmac("sha256", PROBE_SECRET).update(script).digest();
  const actual = Buffer.from(signature, "hex");
  return script !== "" && actual.length === expected.length && timingSafeEqual(actual, expected) ? script : null;
}

function requestIdOf(request: Request): string {
  return readRequestId({ headers: { "x-request-id": request.headers.get("x-request-id") ?? undefined } });
}
