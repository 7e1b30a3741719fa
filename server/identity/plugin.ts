import { fromNodeHeaders } from "better-auth/node";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { RateLimited } from "../../domain/shared/errors.ts";
import type { Quota } from "../../domain/ports/counter.ts";
import { MemoryCounter } from "../drivers/counter/memory.ts";
import { KeyedLock } from "../../domain/shared/keyed-lock.ts";
import { clientNetwork } from "../http/client-address.ts";
import type { Auth } from "./open-auth.ts";
import { ADDRESS_HEADER } from "./options.ts";

export interface IdentityPluginOptions {
  /** Ready when the first request is: the public URL is known only once the server listens. */
  auth: () => Auth;
  publicUrl: () => string;
}

const BODY_LIMIT = 64 * 1024;
/** Calls from one address: far more than pages make, far fewer than it takes to guess the code of a device. */
const CALLS = { limit: 300, windowSeconds: 60 } as const;
/** Sign-ups, OAuth clients and devices from one address: what somebody unknown leaves behind in the database. */
const NEWCOMERS = { limit: 100, windowSeconds: 3600 } as const;
const LEAVES_SOMETHING = ["sign-up/email", "oauth2/register", "device/code"];
/** What tries a password. */
const TRIES_PASSWORD = ["sign-in/email", "change-password"];
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'";
const BASE = "/api/auth/";
const CODE = /^[\w-]{1,64}$/;
const FAILED = "sign_in_failed";
const PATHS = [`${BASE}*`, "/.well-known/*"];

/** Sign-in, organizations and OAuth at `/api/auth`, and what OAuth clients look for at `/.well-known`. */
export function identityPlugin({ auth, publicUrl }: IdentityPluginOptions) {
  const counter = new MemoryCounter();
  // Wrong passwords are counted when they are known to be wrong; many at once would all be let in before the first is.
  const oneByOne = new KeyedLock();
  return async (scope: FastifyInstance): Promise<void> => {
    // The body goes on as it came.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    const limit = async (quota: Quota): Promise<void> => {
      const { allowed, resetSeconds } = await counter.take(quota);
      if (!allowed) throw new RateLimited("Too many calls came from this address. Wait, then try again.", resetSeconds);
    };
    scope.addHook("onRequest", async (request) => {
      await limit({ key: `identity:${clientNetwork(request.ip)}`, ...CALLS });
      if (posts(request, LEAVES_SOMETHING))
        await limit({ key: `newcomers:${clientNetwork(request.ip)}`, ...NEWCOMERS });
    });
    // The provider's own page for a browser that it can send nowhere else; in production it would show nothing.
    scope.get(`${BASE}error`, { exposeHeadRoute: false }, (request, reply) => {
      const { error } = request.query as { error?: unknown };
      return toSignIn(reply, typeof error === "string" && CODE.test(error) ? error : FAILED);
    });
    for (const url of PATHS)
      scope.route({
        method: ["GET", "POST", "OPTIONS"],
        url,
        bodyLimit: BODY_LIMIT,
        exposeHeadRoute: false,
        handler: async (request, reply) => {
          const ask = () => auth().handler(asFetch(request, publicUrl()));
          const answer = await (posts(request, TRIES_PASSWORD)
            ? oneByOne.run([clientNetwork(request.ip)], ask)
            : ask());
          // Somebody comes back from GitHub or Google, and has no use for JSON.
          const isLost = answer.status >= 400 && request.method === "GET" && pathOf(request).startsWith("callback/");
          return isLost ? toSignIn(reply, FAILED) : relay(reply, answer);
        },
      });
  };
}

/** Whether better-auth will take the request for a call of one of these. It looks at the URL when that is normalized. */
function posts(request: FastifyRequest, paths: readonly string[]): boolean {
  return request.method === "POST" && paths.includes(pathOf(request));
}

function pathOf({ raw }: FastifyRequest): string {
  return URL.parse(raw.url ?? "", "http://localhost")?.pathname.slice(BASE.length) ?? "";
}

/** The sign-in page says in its own words what a code means: whoever makes a link must not choose the words. */
function toSignIn(reply: FastifyReply, error: string): FastifyReply {
  return reply.header("cache-control", "no-store").redirect(`/sign-in?error=${error}`);
}

function asFetch(request: FastifyRequest, publicUrl: string): Request {
  const headers = fromNodeHeaders(request.headers);
  headers.set(ADDRESS_HEADER, request.ip);
  const body = request.body as Buffer<ArrayBuffer> | undefined;
  // A request line may name a host of its own.
  const { pathname, search } = new URL(request.raw.url ?? "/", publicUrl);
  return new Request(Object.assign(new URL(publicUrl), { pathname, search }), {
    method: request.method,
    headers,
    ...(body === undefined || request.method === "GET" ? {} : { body }),
  });
}

async function relay(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  void reply.code(answer.status).header("cache-control", "no-store");
  // A page of better-auth's own has its styles in it, and nothing else that could be needed.
  void reply.header("content-security-policy", POLICY);
  for (const [name, value] of answer.headers) if (name !== "set-cookie") void reply.header(name, value);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) void reply.header("set-cookie", cookies);
  return reply.send(answer.body === null ? "" : Buffer.from(await answer.arrayBuffer()));
}
