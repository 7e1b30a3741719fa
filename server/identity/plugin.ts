import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { RateLimited } from "../../domain/shared/errors.ts";
import type { Quota } from "../../domain/ports/counter.ts";
import { MemoryCounter } from "../drivers/counter/memory-counter.ts";
import { KeyedLock } from "../../domain/shared/keyed-lock.ts";
import { CLIENT_ADDRESS_HEADER, clientNetwork } from "../http/client-address.ts";
import type { Auth } from "./open-auth.ts";

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
    scope.addHook("onRequest", async (request, reply) => {
      if (isMetadata(request)) void reply.header("access-control-allow-origin", "*");
      if (isMetadata(request) && request.method === "OPTIONS")
        return reply.code(204).headers(METADATA_PREFLIGHT).send();
      const network = clientNetwork(request.ip);
      await checkLimit({ key: `requests:${network}`, ...REQUEST_LIMIT });
      if (isPostTo(request, UNAUTHENTICATED_WRITES))
        await checkLimit({ key: `unauthenticated-writes:${network}`, ...UNAUTHENTICATED_WRITE_LIMIT });
      return undefined;
    });
    // better-auth redirects failed browser flows here. Its own page would show no details in production.
    scope.get(`${BASE_PATH}error`, { exposeHeadRoute: false }, (request, reply) => {
      const { error } = request.query as { error?: unknown };
      return redirectToSignIn(reply, typeof error === "string" && ERROR_CODE.test(error) ? error : DEFAULT_ERROR_CODE);
    });
    for (const url of PATHS)
      scope.route({
        method: ["GET", "POST", "OPTIONS"],
        url,
        bodyLimit: BODY_LIMIT,
        exposeHeadRoute: false,
        handler: async (request, reply) => {
          const handle = async () => (await auth()).handler(toFetchRequest(request, publicUrl()));
          const response = isPostTo(request, PASSWORD_CHECKS)
            ? await passwordLock.run([clientNetwork(request.ip)], handle)
            : await handle();
          // The browser of a user who comes back from GitHub or Google would show a JSON error as text.
          const isFailedCallback =
            response.status >= 400 && request.method === "GET" && readAuthPath(request).startsWith("callback/");
          return isFailedCallback ? redirectToSignIn(reply, DEFAULT_ERROR_CODE) : sendResponse(reply, response);
        },
      });
  };
}

/** Whether better-auth routes a request to one of these endpoints. It routes by the normalized path. */
function isPostTo(request: FastifyRequest, paths: readonly string[]): boolean {
  return request.method === "POST" && paths.includes(readAuthPath(request));
}

/** Whether a request is for a metadata document. Clients in a browser read it from another origin. */
function isMetadata({ raw }: FastifyRequest): boolean {
  const { pathname } = new URL(raw.url ?? "/", "http://localhost");
  return pathname.startsWith("/.well-known/") || pathname.startsWith(`${BASE_PATH}.well-known/`);
}

/** The normalized path below `/api/auth/`. */
function readAuthPath({ raw }: FastifyRequest): string {
  return URL.parse(raw.url ?? "", "http://localhost")?.pathname.slice(BASE_PATH.length) ?? "";
}

/** Passes only an error code. The page has its own text for each code, so that a crafted link cannot show a chosen text. */
function redirectToSignIn(reply: FastifyReply, errorCode: string): FastifyReply {
  return reply.header("cache-control", "no-store").redirect(`/sign-in?error=${errorCode}`);
}

function toFetchRequest(request: FastifyRequest, publicUrl: string): Request {
  const headers = new Headers();
  for (const [name, values = []] of Object.entries(request.headers))
    for (const value of [values].flat()) headers.append(name, value);
  headers.set(CLIENT_ADDRESS_HEADER, request.ip);
  // Some clients send a token of the gateway with their registration. Anyone may register, so no token is necessary.
  if (isPostTo(request, [REGISTER_CLIENT])) headers.delete("authorization");
  const body = request.body as Buffer<ArrayBuffer> | undefined;
  // Path and query only: the request line may contain another host.
  const { pathname, search } = new URL(request.raw.url ?? "/", publicUrl);
  return new Request(Object.assign(new URL(publicUrl), { pathname, search }), {
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
