import { type CreateFastifyContextOptions, fastifyTRPCPlugin } from "@trpc/server/adapters/fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { RateLimited, ServiceError } from "../../domain/shared/errors.ts";
import type { Capabilities, Context } from "../../routers/core/context.ts";
import { type AppRouter, appRouter } from "../../routers/index.ts";
import { authenticateRequest, type RequestAuthentication } from "../auth/authenticator.ts";
import { callContext } from "../context.ts";

export interface RpcOptions extends RequestAuthentication {
  capabilities: Capabilities;
}

const LARGEST_BATCH = 20;

/** The typed interface at `/trpc`: the router itself, for clients that know its type. Only bearer tokens open it. */
export function rpcPlugin(options: RpcOptions) {
  return async (scope: FastifyInstance): Promise<void> => {
    await scope.register(fastifyTRPCPlugin<AppRouter>, {
      prefix: "/trpc",
      trpcOptions: {
        router: appRouter,
        maxBatchSize: LARGEST_BATCH,
        createContext: ({ req }: CreateFastifyContextOptions) => contextOf(options, req),
        responseMeta: ({ errors }) => ({ headers: headersOf(errors.map(({ cause }) => cause)) }),
        onError: ({ error, path, req }) => {
          if (error.code !== "INTERNAL_SERVER_ERROR" || error.cause instanceof ServiceError) return;
          req.log.error({ err: error.cause ?? error, procedure: path }, "a procedure failed");
        },
      },
    });
  };
}

async function contextOf(options: RpcOptions, request: FastifyRequest): Promise<Context> {
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

function headersOf(causes: unknown[]): Record<string, string> {
  const refusals = causes.filter((cause) => cause instanceof ServiceError);
  const waits = refusals.flatMap((cause) => (cause instanceof RateLimited ? [cause.retryAfterSeconds] : []));
  return {
    ...(waits.length === 0 ? {} : { "retry-after": String(Math.max(...waits)) }),
    ...(refusals.some(({ code }) => code === "unauthenticated") ? { "www-authenticate": "Bearer" } : {}),
  };
}
