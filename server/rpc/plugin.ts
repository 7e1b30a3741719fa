import { type CreateFastifyContextOptions, fastifyTRPCPlugin } from "@trpc/server/adapters/fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { retryAfterSeconds, ServiceError } from "../../domain/shared/errors.ts";
import type { Capabilities, Context } from "../../routers/core/context.ts";
import { type AppRouter, appRouter } from "../../routers/index.ts";
import { authenticateRequest, type RequestAuthentication } from "../auth/authenticator.ts";
import { callContext } from "../call-context.ts";

export interface RpcOptions extends RequestAuthentication {
  capabilities: Capabilities;
}

const MAX_BATCH_SIZE = 20;

/** Serves the router itself as typed RPC at `/trpc`. It accepts bearer tokens only, no cookies. */
export function rpcPlugin(options: RpcOptions) {
  return async (scope: FastifyInstance): Promise<void> => {
    await scope.register(fastifyTRPCPlugin<AppRouter>, {
      prefix: "/trpc",
      trpcOptions: {
        router: appRouter,
        maxBatchSize: MAX_BATCH_SIZE,
        createContext: ({ req }: CreateFastifyContextOptions) => createContext(options, req),
        responseMeta: ({ errors }) => ({ headers: createHeaders(errors.map(({ cause }) => cause)) }),
        onError: ({ error, path, req }) => {
          if (error.code !== "INTERNAL_SERVER_ERROR" || error.cause instanceof ServiceError) return;
          req.log.error({ err: error.cause ?? error, procedure: path }, "a procedure failed");
        },
      },
    });
  };
}

async function createContext(options: RpcOptions, request: FastifyRequest): Promise<Context> {
  const { capabilities } = options;
  const address = request.ip;
  try {
    return callContext(capabilities, await authenticateRequest(request, options), { address });
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
  if (errors.some(({ code }) => code === "unauthenticated")) headers["www-authenticate"] = "Bearer";
  return headers;
}
