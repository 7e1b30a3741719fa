import { type CreateFastifyContextOptions, fastifyRequestHandler } from "@trpc/server/adapters/fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../domain/shared/caller.ts";
import { InsufficientScope, retryAfterSeconds, ServiceError } from "../../domain/shared/errors.ts";
import type { Service, Context } from "../../routers/core/context.ts";
import { appRouter, isMutation, mayCallProcedure } from "../../routers/index.ts";
import { authenticateRequest, type RequestAuthentication } from "../auth/authenticator.ts";
import { challengeError, formatChallenge, scopeChallenge } from "../auth/bearer-challenge.ts";
import { explainRestUnauthenticated } from "../auth/unauthenticated.ts";
import { callContext } from "../call-context.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
    /** Why typed RPC has no caller; `null` if it has one. */
    authenticationError: ServiceError | null;
  }
}

export interface RpcOptions extends RequestAuthentication {
  service: Service;
  publicUrl: () => string;
}

const MAX_BATCH_SIZE = 20;

/** Without the characters that would end the host in a URL. */
const HOST = /^[^/?#\\@\s]+$/;
const METHODS = ["GET", "HEAD", "POST"];

/** Serves the router itself as typed RPC at `/trpc`. It accepts bearer tokens only, no cookies. */
export function rpcPlugin(options: RpcOptions) {
  return async (scope: FastifyInstance): Promise<void> => {
    // The adapter of tRPC throws for requests that the Fetch API cannot represent, and Fastify would respond with 500.
    scope.addHook("onRequest", async ({ method, headers, url }, reply) => {
      if (!METHODS.includes(method))
        return reply
          .code(405)
          .header("allow", METHODS.join(", "))
          .send({ error: "Use GET for a query and POST for a mutation." });
      if (!HOST.test(headers.host ?? "") || !URL.canParse(url, `http://${headers.host}`))
        return reply.code(400).send({ error: "The Host header or the URL is invalid." });
    });
    scope.decorateRequest("caller", null);
    scope.decorateRequest("authenticationError", null);
    // tRPC parses the body itself. It accepts no files.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => done(null, body));
    const respond = (request: FastifyRequest, reply: FastifyReply) =>
      fastifyRequestHandler({
        req: request,
        res: reply,
        path: readPath(request),
        router: appRouter,
        maxBatchSize: MAX_BATCH_SIZE,
        createContext: (call: CreateFastifyContextOptions) => createContext(options.service, call),
        responseMeta: ({ errors }) => ({ headers: createHeaders(errors.map(({ cause }) => cause)) }),
        onError: ({ error, path, req }) => {
          if (error.code !== "INTERNAL_SERVER_ERROR" || error.cause instanceof ServiceError) return;
          req.log.error({ err: error.cause ?? error, procedure: path }, "a procedure failed");
        },
      });
    scope.addHook("onRequest", async (request, reply) => {
      await authenticate(request, reply, options);
      if (request.raw.complete || needsBody(request)) return undefined;
      // An empty text, because tRPC would read a body that is missing from the connection.
      request.body = "";
      await respond(request, reply);
      return reply;
    });
    scope.all("/trpc/:path", respond);
  };
}

/** The dotted path of a procedure; in a batch, several with commas between them. */
function readPath({ params }: FastifyRequest): string {
  return (params as { path: string }).path;
}

/** Whether the response depends on the body: the caller may call at least one of the mutations that the URL names. */
function needsBody(request: FastifyRequest): boolean {
  const { caller } = request;
  const paths = readPath(request).split(",");
  return caller !== null && paths.some((path) => isMutation(path) && mayCallProcedure(caller, path));
}

/** Sets the caller of a request, or the error that each procedure of the batch reports in its own response. */
async function authenticate(request: FastifyRequest, reply: FastifyReply, options: RpcOptions): Promise<void> {
  const { authorization } = request.headers;
  try {
    request.caller = await authenticateRequest(request, options);
    if (request.caller !== null) return;
    void reply.header("www-authenticate", formatChallenge(challengeError(authorization)));
    throw new ServiceError("unauthenticated", explainRestUnauthenticated(authorization, options.publicUrl()));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    request.authenticationError = error;
  }
}

async function createContext(service: Service, { req: request, info }: CreateFastifyContextOptions): Promise<Context> {
  const { caller, authenticationError, ip: address } = request;
  const { "idempotency-key": key } = request.headers;
  // A key identifies one call, so a batch has none.
  const idempotencyKey = typeof key === "string" && info.calls.length === 1 ? key : null;
  return callContext(service, caller, { address, idempotencyKey, authenticationError, acceptsRepositoryUrls: true });
}

/** Creates the headers of a response to a batch from the causes of its errors. */
function createHeaders(causes: unknown[]): Record<string, string> {
  const headers: Record<string, string> = {};
  const errors = causes.filter((cause) => cause instanceof ServiceError);
  const waits = errors.map(retryAfterSeconds).filter((wait) => wait !== null);
  if (waits.length > 0) headers["retry-after"] = String(Math.max(...waits));
  const scopeError = errors.find((cause) => cause instanceof InsufficientScope);
  if (scopeError !== undefined) headers["www-authenticate"] = formatChallenge(scopeChallenge(scopeError));
  return headers;
}
