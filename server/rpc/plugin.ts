import { type CreateFastifyContextOptions, fastifyTRPCPlugin } from "@trpc/server/adapters/fastify";
import type { FastifyInstance } from "fastify";
import { InsufficientScope, retryAfterSeconds, ServiceError } from "../../domain/shared/errors.ts";
import type { Capabilities, Context } from "../../routers/core/context.ts";
import { type AppRouter, appRouter } from "../../routers/index.ts";
import { authenticateRequest, type RequestAuthentication } from "../auth/authenticator.ts";
import { challengeError, formatChallenge, scopeChallenge } from "../auth/bearer-challenge.ts";
import { explainRestUnauthenticated } from "../auth/unauthenticated.ts";
import { callContext } from "../call-context.ts";

export interface RpcOptions extends RequestAuthentication {
  capabilities: Capabilities;
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
      void reply.header("cache-control", "no-store");
      if (!METHODS.includes(method))
        return reply
          .code(405)
          .header("allow", METHODS.join(", "))
          .send({ error: "Use GET for a query and POST for a mutation." });
      if (!HOST.test(headers.host ?? "") || !URL.canParse(url, `http://${headers.host}`))
        return reply.code(400).send({ error: "The Host header or the URL is invalid." });
    });
    await scope.register(fastifyTRPCPlugin<AppRouter>, {
      prefix: "/trpc",
      trpcOptions: {
        router: appRouter,
        maxBatchSize: MAX_BATCH_SIZE,
        createContext: (call: CreateFastifyContextOptions) => createContext(options, call),
        responseMeta: ({ errors }) => ({ headers: createHeaders(errors.map(({ cause }) => cause)) }),
        onError: ({ error, path, req }) => {
          if (error.code !== "INTERNAL_SERVER_ERROR" || error.cause instanceof ServiceError) return;
          req.log.error({ err: error.cause ?? error, procedure: path }, "a procedure failed");
        },
      },
    });
  };
}

async function createContext(
  options: RpcOptions,
  { req: request, res: reply, info }: CreateFastifyContextOptions,
): Promise<Context> {
  const { capabilities, publicUrl } = options;
  const address = request.ip;
  const { authorization, "idempotency-key": key } = request.headers;
  // A key identifies one call, so a batch has none.
  const idempotencyKey = typeof key === "string" && info.calls.length === 1 ? key : null;
  try {
    const caller = await authenticateRequest(request, options);
    if (caller !== null) return callContext(capabilities, caller, { address, idempotencyKey });
    void reply.header("www-authenticate", formatChallenge(challengeError(authorization)));
    throw new ServiceError("unauthenticated", explainRestUnauthenticated(authorization, publicUrl()));
  } catch (error) {
    // Each procedure of the batch reports the error in its own response.
    if (error instanceof ServiceError) return callContext(capabilities, null, { address, authenticationError: error });
    throw error;
  }
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
