import { type CreateFastifyContextOptions, fastifyTRPCPlugin } from "@trpc/server/adapters/fastify";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { RateLimited, ServiceError } from "../../domain/shared/errors.ts";
import type { Caller } from "../../domain/shared/caller.ts";
import type { MembershipResolver } from "../../domain/users/membership-resolver.ts";
import type { Capabilities, Context } from "../../routers/core/context.ts";
import { type AppRouter, appRouter } from "../../routers/index.ts";
import type { Authenticator } from "../auth/authenticate.ts";
import { callContext } from "../context.ts";

export interface RpcOptions {
  capabilities: Capabilities;
  authenticator: Authenticator;
  membershipResolver: MembershipResolver;
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

async function contextOf(
  { capabilities, authenticator, membershipResolver }: RpcOptions,
  request: FastifyRequest,
): Promise<Context> {
  const face = { address: request.ip };
  try {
    const caller = await authenticator.callerOf(request.headers.authorization, request.ip);
    return callContext(capabilities, caller && (await chosen(membershipResolver, caller, request)), face);
  } catch (error) {
    // Each procedure of the batch says so in its own answer.
    if (error instanceof ServiceError) return callContext(capabilities, null, { ...face, authenticationError: error });
    throw error;
  }
}

async function chosen(
  membershipResolver: MembershipResolver,
  caller: Caller,
  { headers }: FastifyRequest,
): Promise<Caller> {
  const orgId = headers["x-service-org-id"];
  const found = orgId === undefined ? caller : await membershipResolver.inOrganization(caller, String(orgId));
  if (found === null) throw new ServiceError("forbidden", "X-Service-Org-Id names no organization of this caller.");
  return found;
}

function headersOf(causes: unknown[]): Record<string, string> {
  const refusals = causes.filter((cause) => cause instanceof ServiceError);
  const waits = refusals.flatMap((cause) => (cause instanceof RateLimited ? [cause.retryAfterSeconds] : []));
  return {
    ...(waits.length === 0 ? {} : { "retry-after": String(Math.max(...waits)) }),
    ...(refusals.some(({ code }) => code === "unauthenticated") ? { "www-authenticate": "Bearer" } : {}),
  };
}
