import type { TRPCError } from "@trpc/server";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { createOpenApiNodeHttpHandler } from "trpc-to-openapi";
import type { Caller } from "../../domain/shared/caller.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import type { Taken } from "../../domain/ports/counter.ts";
import type { Capabilities, Context } from "../../routers/core/context.ts";
import { appRouter } from "../../routers/index.ts";
import { callContext } from "../context.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { BODY_LIMIT, parseBodies } from "./bodies.ts";
import { Sink, Source } from "./exchange.ts";
import { metaOf } from "./procedure-meta.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
    malformedBody: ServiceError | null;
  }
}

export interface RestOptions {
  capabilities: Capabilities;
  authenticator: Authenticator;
}

/** Serves every procedure that has `meta.openapi` as REST under `/v1`. */
export function restPlugin({ capabilities, authenticator }: RestOptions) {
  return async (scope: FastifyInstance): Promise<void> => {
    scope.decorateRequest("caller", null);
    scope.decorateRequest("malformedBody", null);
    parseBodies(scope);
    // 401 comes before the body is read, so a malformed body without a token is still a 401.
    scope.addHook("onRequest", async (request) => {
      request.caller = await authenticator.authenticate(request.headers.authorization, request.ip);
      if (request.caller === null) throw new ServiceError("unauthenticated", UNAUTHENTICATED);
    });
    const handle = createHandler(capabilities);
    scope.route({
      method: ["GET", "POST", "DELETE", "PUT", "PATCH"],
      url: "/v1/*",
      exposeHeadRoute: false,
      bodyLimit: BODY_LIMIT,
      handler: async (request, reply) => {
        const sink = new Sink(reply);
        await handle(new Source(request, sink) as never, sink as never);
        return reply;
      },
    });
  };
}

const UNAUTHENTICATED = "Missing or invalid token. Send an API key as Authorization: Bearer svk_…";

type Handler = (source: never, sink: never) => Promise<void>;

function createHandler(capabilities: Capabilities): Handler {
  return createOpenApiNodeHttpHandler<typeof appRouter, never, never>({
    router: appRouter,
    createContext: ({ req }: { req: Source }) => contextOf(capabilities, req.incoming, req.sink),
    onError: ({ error, path, req }: { error: TRPCError; path: string | undefined; req: Source }) => {
      req.sink.error = error;
      req.sink.path = path;
    },
    responseMeta: ({ paths }: { paths?: readonly string[] }) => {
      const status = metaOf(paths?.[0])?.openapi?.successStatus;
      return status === undefined ? {} : { status };
    },
  });
}

function contextOf(capabilities: Capabilities, request: FastifyRequest, sink: Sink): Context {
  const key = request.headers["idempotency-key"];
  return callContext(capabilities, request.caller, {
    address: request.ip,
    malformedBody: request.malformedBody,
    idempotencyKey: typeof key === "string" ? key : null,
    reportRateLimit: (policy, taken) => reportRateLimit(sink, policy, taken),
  });
}

/** The header fields of draft-ietf-httpapi-ratelimit-headers-10. */
function reportRateLimit(
  sink: Sink,
  policy: { name: string; limit: number; windowSeconds: number },
  taken: Taken,
): void {
  sink.setHeader("ratelimit-policy", `"${policy.name}";q=${policy.limit};w=${policy.windowSeconds}`);
  sink.setHeader("ratelimit", `"${policy.name}";r=${taken.remaining};t=${taken.resetSeconds}`);
}
