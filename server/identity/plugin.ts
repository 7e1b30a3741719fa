import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { RateLimited } from "../../domain/shared/errors.ts";
import { parseJson } from "../../domain/shared/json.ts";
import type { Quota } from "../../domain/ports/counter.ts";
import { MemoryCounter } from "../drivers/counter/memory-counter.ts";
import { KeyedLock } from "../../domain/shared/keyed-lock.ts";
import { CLIENT_ADDRESS_HEADER, clientNetwork } from "../http/client-address.ts";
import { selectOwnOrigin } from "../http/own-origins.ts";
import { explainAuthorizationError, stopErrorRedirect } from "./authorization-error.ts";
import { renderAuthorizationError } from "./authorization-error-page.ts";
import { DPOP_HEADER, withoutDpopMetadata } from "./ignored-dpop.ts";
import type { Auth } from "./open-auth.ts";
import { isProtectedResourcePath, nameResourceOf } from "./protected-resource-metadata.ts";

export interface IdentityPluginOptions {
  /** Returns the identity provider. It is called at the first request, because the public URL needs the listening port. */
  auth: () => Promise<Auth>;
  publicUrl: () => string;
}

/** In bytes. */
const BODY_LIMIT = 64 * 1024;
/** All requests of one client network: far more than pages send, far fewer than guessing a device code takes. */
const REQUEST_LIMIT = { limit: 300, windowSeconds: 60 } as const;
/** Requests of one client network that store records without authentication: sign-ups, OAuth clients and device codes. */
const UNAUTHENTICATED_WRITE_LIMIT = { limit: 100, windowSeconds: 3600 } as const;
const REGISTER_CLIENT = "oauth2/register";
const UNAUTHENTICATED_WRITES = ["sign-up/email", REGISTER_CLIENT, "device/code"];
/** Requests that check a password. */
const PASSWORD_CHECKS = ["sign-in/email", "change-password"];
/** Metadata is public, so every origin may read it, with any header that a client adds. */
const METADATA_PREFLIGHT = {
  "access-control-allow-methods": "GET",
  "access-control-allow-headers": "*",
  "access-control-max-age": "7200",
};
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'";
const BASE_PATH = "/api/auth/";
const ERROR_PATH = `${BASE_PATH}error`;
/** Below `/api/auth/`. */
const AUTHORIZE = "oauth2/authorize";
const PATHS = [`${BASE_PATH}*`, "/.well-known/*"];
const ERROR_CODE = /^[\w-]{1,64}$/;
const DEFAULT_ERROR_CODE = "sign_in_failed";

/** Serves sign-in, organizations and OAuth at `/api/auth`, and the OAuth metadata at `/.well-known`. */
export function identityPlugin({ auth, publicUrl }: IdentityPluginOptions) {
  const counter = new MemoryCounter();
  // A wrong password counts after it was checked, so parallel attempts would all pass the limit. They run one at a time.
  const passwordLock = new KeyedLock();
  const checkLimit = async (quota: Quota): Promise<void> => {
    const { allowed, resetSeconds } = await counter.consume(quota);
    if (!allowed) throw new RateLimited("Too many requests from this address. Wait, then try again.", resetSeconds);
  };
  return async (scope: FastifyInstance): Promise<void> => {
    // better-auth parses the body itself.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    scope.addHook("onRequest", allowMetadataRequest);
    scope.addHook("onRequest", async (request) => {
      const network = clientNetwork(request.ip);
      await checkLimit({ key: `requests:${network}`, ...REQUEST_LIMIT });
      if (isPostTo(request, UNAUTHENTICATED_WRITES))
        await checkLimit({ key: `unauthenticated-writes:${network}`, ...UNAUTHENTICATED_WRITE_LIMIT });
    });
    // A browser would show the JSON of an error as text.
    scope.addHook("onSend", async (request, reply, payload) =>
      reply.statusCode >= 400 && isAuthorizationNavigation(request) ? renderErrorPage(reply, payload) : payload,
    );
    // better-auth redirects failed authorizations here, also from the responses to a sign-in and to a consent.
    scope.get(ERROR_PATH, { exposeHeadRoute: false }, (request, reply) => {
      void reply.code(400);
      return reply.send(
        renderErrorPage(reply, JSON.stringify({ error: (request.query as { error?: unknown }).error })),
      );
    });
    for (const url of PATHS)
      scope.route({
        method: ["GET", "POST", "OPTIONS"],
        url,
        bodyLimit: BODY_LIMIT,
        exposeHeadRoute: false,
        handler: async (request, reply) => {
          const handle = async () => callAuth(await auth(), request, publicUrl());
          if (isProtectedResourcePath(readPath(request)))
            return sendResponse(
              reply,
              await nameResourceOf(await handle(), selectOwnOrigin(publicUrl(), request.headers.host)),
            );
          const response = isPostTo(request, PASSWORD_CHECKS)
            ? await passwordLock.run([clientNetwork(request.ip)], handle)
            : await handle();
          if (readAuthPath(request) === AUTHORIZE)
            return sendResponse(reply, await stopErrorRedirect(response, publicUrl()));
          const callbackError = readCallbackError(request, response);
          return callbackError === null ? sendResponse(reply, response) : redirectToSignIn(reply, callbackError);
        },
      });
  };
}

/** Whether better-auth routes a request to one of these endpoints. It routes by the normalized path. */
function isPostTo(request: FastifyRequest, paths: readonly string[]): boolean {
  return request.method === "POST" && paths.includes(readAuthPath(request));
}

/** Lets clients in a browser read the metadata from another origin, and responds to their preflight requests. */
async function allowMetadataRequest(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
  if (!isMetadata(request)) return undefined;
  void reply.header("access-control-allow-origin", "*");
  return request.method === "OPTIONS" ? reply.code(204).headers(METADATA_PREFLIGHT).send() : undefined;
}

/** Whether a request is for a metadata document. */
function isMetadata({ raw }: FastifyRequest): boolean {
  const { pathname } = new URL(raw.url ?? "/", "http://localhost");
  return pathname.startsWith("/.well-known/") || pathname.startsWith(`${BASE_PATH}.well-known/`);
}

/** The normalized path below `/api/auth/`. */
function readAuthPath(request: FastifyRequest): string {
  return readPath(request).slice(BASE_PATH.length);
}

/** The normalized path. A trailing slash makes no difference for metadata: clients copy it from the URL of the gateway. */
function readPath({ raw }: FastifyRequest): string {
  const pathname = URL.parse(raw.url ?? "", "http://localhost")?.pathname ?? "";
  return pathname.startsWith("/.well-known/") ? pathname.replace(/(?<!\/)\/+$/, "") : pathname;
}

/** Whether a browser opens the authorization endpoint as a page. */
function isAuthorizationNavigation(request: FastifyRequest): boolean {
  return request.headers.accept?.includes("text/html") === true && readAuthPath(request) === AUTHORIZE;
}

/** Sets the headers of a page, and returns its HTML. */
function renderErrorPage(reply: FastifyReply, payload: unknown): string {
  void reply.headers({
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": CONTENT_SECURITY_POLICY,
    // The URL contains the request of the client.
    "referrer-policy": "no-referrer",
  });
  return renderAuthorizationError(explainAuthorizationError(reply.statusCode, parseJson(String(payload))));
}

/** The error with which a user comes back from GitHub or Google; `null` if there is none. */
function readCallbackError(request: FastifyRequest, { status, headers }: Response): string | null {
  if (request.method !== "GET" || !readAuthPath(request).startsWith("callback/")) return null;
  // A browser would show a JSON error as text.
  if (status >= 400) return DEFAULT_ERROR_CODE;
  const url = URL.parse(headers.get("location") ?? "", "http://localhost");
  // After a successful sign-in, the error is one of the authorization that continues with it.
  const isSignedIn = headers.getSetCookie().some((cookie) => /session_token=[^;]/.test(cookie));
  if (url?.pathname !== ERROR_PATH || isSignedIn) return null;
  const code = url.searchParams.get("error") ?? "";
  return ERROR_CODE.test(code) ? code : DEFAULT_ERROR_CODE;
}

/** Passes only an error code. The page has its own text for each code, so that a crafted link cannot show a chosen text. */
function redirectToSignIn(reply: FastifyReply, errorCode: string): FastifyReply {
  return reply.header("cache-control", "no-store").redirect(`/sign-in?error=${errorCode}`);
}

async function callAuth(auth: Auth, request: FastifyRequest, publicUrl: string): Promise<Response> {
  const response = await auth.handler(toFetchRequest(request, publicUrl));
  return isMetadata(request) ? withoutDpopMetadata(response) : response;
}

function toFetchRequest(request: FastifyRequest, publicUrl: string): Request {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(request.headers))
    for (const value of [values].flat()) headers.append(name, value);
  headers.set(CLIENT_ADDRESS_HEADER, request.ip);
  headers.delete(DPOP_HEADER);
  // Some clients send a token of the gateway with their registration. Anyone may register, so no token is necessary.
  if (isPostTo(request, [REGISTER_CLIENT])) headers.delete("authorization");
  const body = request.body as Buffer<ArrayBuffer> | undefined;
  // Path and query only: the request line may contain another host.
  const { search } = new URL(request.raw.url ?? "/", publicUrl);
  return new Request(Object.assign(new URL(publicUrl), { pathname: readPath(request), search }), {
    method: request.method,
    headers,
    ...(body === undefined || request.method === "GET" ? {} : { body }),
  });
}

async function sendResponse(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  void reply.code(response.status).header("cache-control", "no-store");
  // The HTML pages of better-auth need their inline styles and nothing else.
  void reply.header("content-security-policy", CONTENT_SECURITY_POLICY);
  for (const [name, value] of response.headers) if (name !== "set-cookie") void reply.header(name, value);
  const cookies = response.headers.getSetCookie();
  if (cookies.length > 0) void reply.header("set-cookie", cookies);
  return reply.send(response.body === null ? "" : Buffer.from(await response.arrayBuffer()));
}
