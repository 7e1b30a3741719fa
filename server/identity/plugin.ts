import { fromNodeHeaders } from "better-auth/node";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { RateLimited } from "../../domain/errors.ts";
import { MemoryCounter } from "../drivers/counter/memory.ts";
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
const PATHS = ["/api/auth/*", "/.well-known/*"];

/** Sign-in, organizations and OAuth at `/api/auth`, and what OAuth clients look for at `/.well-known`. */
export function identityPlugin({ auth, publicUrl }: IdentityPluginOptions) {
  const counter = new MemoryCounter();
  return async (scope: FastifyInstance): Promise<void> => {
    // The body goes on as it came.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
    scope.addHook("onRequest", async (request) => {
      const { allowed, resetSeconds } = await counter.take({ key: `identity:${request.ip}`, ...CALLS });
      if (!allowed) throw new RateLimited("Too many calls came from this address. Wait, then try again.", resetSeconds);
    });
    for (const url of PATHS)
      scope.route({
        method: ["GET", "POST", "OPTIONS"],
        url,
        bodyLimit: BODY_LIMIT,
        exposeHeadRoute: false,
        handler: async (request, reply) => relay(reply, await auth().handler(asFetch(request, publicUrl()))),
      });
  };
}

function asFetch(request: FastifyRequest, publicUrl: string): Request {
  const headers = fromNodeHeaders(request.headers);
  headers.set(ADDRESS_HEADER, request.ip);
  const body = request.body as Buffer<ArrayBuffer> | undefined;
  return new Request(new URL(request.raw.url ?? "/", publicUrl), {
    method: request.method,
    headers,
    ...(body === undefined || request.method === "GET" ? {} : { body }),
  });
}

async function relay(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  void reply.code(answer.status);
  for (const [name, value] of answer.headers) if (name !== "set-cookie") void reply.header(name, value);
  const cookies = answer.headers.getSetCookie();
  if (cookies.length > 0) void reply.header("set-cookie", cookies);
  return reply.send(answer.body === null ? "" : Buffer.from(await answer.arrayBuffer()));
}
