import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { QuotaState } from "../../domain/ports/counter.ts";
import type { Caller } from "../../domain/shared/caller.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import type { Capabilities, Context } from "../../routers/core/context.ts";
import { callRouterProcedure } from "../../routers/index.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { callContext } from "../call-context.ts";
import { sendProcedureError, sendWrongContentType, UNKNOWN_ENDPOINT } from "./error-response.ts";
import { type Operation, OPERATIONS } from "./operations.ts";
import { addBodyParser, BODY_LIMIT } from "./request-body.ts";

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

const UNAUTHENTICATED = "Missing or invalid token. Send an API key as Authorization: Bearer svk_…";

/** Serves every procedure with `meta.openapi` as REST under `/v1`. */
export function restPlugin({ capabilities, authenticator }: RestOptions) {
  return async (scope: FastifyInstance): Promise<void> => {
    scope.decorateRequest("caller", null);
    scope.decorateRequest("malformedBody", null);
    addBodyParser(scope);
    // This hook runs before the body is read, so a malformed body without a token is still a 401.
    scope.addHook("onRequest", async (request) => {
      request.caller = await authenticator.authenticate(request.headers.authorization, request.ip);
      if (request.caller === null) throw new ServiceError("unauthenticated", UNAUTHENTICATED);
    });
    for (const operation of OPERATIONS) addRoutes(scope, operation, capabilities);
    scope.route({
      method: ["GET", "POST", "DELETE", "PUT", "PATCH"],
      url: "/v1/*",
      exposeHeadRoute: false,
      bodyLimit: BODY_LIMIT,
      handler: async () => {
        throw new ServiceError("not_found", UNKNOWN_ENDPOINT);
      },
    });
  };
}

/** Adds the route with and without a trailing slash. */
function addRoutes(scope: FastifyInstance, operation: Operation, capabilities: Capabilities): void {
  const { method, path } = operation;
  const url = path.replaceAll(/\{(\w+)\}/g, ":$1");
  const handler = (request: FastifyRequest, reply: FastifyReply) => respond(operation, capabilities, request, reply);
  for (const variant of [url, `${url}/`])
    scope.route({ method, url: variant, exposeHeadRoute: false, bodyLimit: BODY_LIMIT, handler });
}

async function respond(
  operation: Operation,
  capabilities: Capabilities,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (hasBody(operation) && !isJson(request)) return sendWrongContentType(reply);
  try {
    const context = createContext(capabilities, request, reply);
    const data = await callRouterProcedure(context, operation.procedure, readInput(operation, request));
    return reply.code(operation.successStatus).send(data);
  } catch (error) {
    return sendProcedureError(error, operation, reply);
  }
}

function hasBody({ method }: Operation): boolean {
  return method !== "GET" && method !== "DELETE";
}

function isJson({ headers }: FastifyRequest): boolean {
  // Media types are case-insensitive (RFC 9110, section 8.3.1).
  return headers["content-type"]?.toLowerCase().startsWith("application/json") === true;
}

/** A path parameter takes precedence over a field of the same name. */
function readInput(operation: Operation, { body, query, params }: FastifyRequest): object | undefined {
  if (operation.input === undefined) return undefined;
  return { ...(hasBody(operation) ? (body as object | undefined) : readQuery(query)), ...(params as object) };
}

/** Removes empty parameters, which count as absent. */
function readQuery(query: unknown): object {
  return Object.fromEntries(Object.entries(query as object).filter(([, value]) => value !== ""));
}

function createContext(capabilities: Capabilities, request: FastifyRequest, reply: FastifyReply): Context {
  const key = request.headers["idempotency-key"];
  return callContext(capabilities, request.caller, {
    address: request.ip,
    malformedBody: request.malformedBody,
    idempotencyKey: typeof key === "string" ? key : null,
    reportRateLimit: (policy, state) => reportRateLimit(reply, policy, state),
  });
}

/** Sets the header fields of draft-ietf-httpapi-ratelimit-headers-10. */
function reportRateLimit(
  reply: FastifyReply,
  policy: { name: string; limit: number; windowSeconds: number },
  state: QuotaState,
): void {
  void reply.headers({
    "ratelimit-policy": `"${policy.name}";q=${policy.limit};w=${policy.windowSeconds}`,
    ratelimit: `"${policy.name}";r=${state.remaining};t=${state.resetSeconds}`,
  });
}
