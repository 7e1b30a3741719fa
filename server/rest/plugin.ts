import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import type { Download } from "../../domain/exports/export-app.ts";
import type { QuotaState } from "../../domain/ports/counter.ts";
import type { Caller } from "../../domain/shared/caller.ts";
import { ServiceError } from "../../domain/shared/errors.ts";
import type { Service, Context } from "../../routers/core/context.ts";
import { omitAbsent } from "../../routers/core/omit-absent.ts";
import type { StreamedBody } from "../../routers/core/trpc.ts";
import { callRouterProcedure, mayCallProcedure } from "../../routers/index.ts";
import { authenticateRequest, type RequestAuthentication } from "../auth/authenticator.ts";
import { explainRestUnauthenticated } from "../auth/unauthenticated.ts";
import { callContext } from "../call-context.ts";
import type { StreamedConnections } from "../http/client-errors.ts";
import { createDisconnectSignal } from "../http/disconnect-signal.ts";
import { sendMethodNotAllowed, sendProcedureError, sendRequestError, UNKNOWN_ENDPOINT } from "./error-response.ts";
import { hasBody, type Operation, OPERATIONS, readParameters } from "./operations.ts";
import { addBodyParser, toUnreadableBody, type UnreadableBody, unsupportedType } from "./request-body.ts";
import { sendDownload } from "./send-download.ts";
import { StreamedBodies } from "./streamed-bodies.ts";
import { STREAMED_OPERATIONS } from "./streams/streamed-operations.ts";
import { OpenStreams, wantsStream } from "./streams/open-streams.ts";

declare module "fastify" {
  interface FastifyRequest {
    caller: Caller | null;
    /** The procedure throws it, because an attempt counts against the rate limit whatever its body is. */
    unreadableBody: UnreadableBody | null;
  }
}

export interface RestOptions extends RequestAuthentication {
  service: Service;
  publicUrl: () => string;
  /** Gets the connections on which streamed bodies are arriving. */
  streamedConnections: StreamedConnections;
}

/** Serves every procedure with `meta.openapi` as REST under `/v1`. */
export function restPlugin(options: RestOptions) {
  const { service, publicUrl, streamedConnections } = options;
  return async (scope: FastifyInstance): Promise<void> => {
    scope.decorateRequest("caller", null);
    scope.decorateRequest("unreadableBody", null);
    addBodyParser(scope);
    // This hook runs before the body is read, so a malformed body without a token is still a 401.
    scope.addHook("onRequest", async (request) => {
      request.caller = await authenticateRequest(request, options);
      if (request.caller !== null) return;
      throw new ServiceError("unauthenticated", explainRestUnauthenticated(request.headers.authorization, publicUrl()));
    });
    const streams = new OpenStreams(scope, options);
    const services = { service, streams, bodies: new StreamedBodies(scope, streamedConnections) };
    for (const [path, operations] of Map.groupBy(OPERATIONS, (operation) => operation.path)) {
      const url = path.replaceAll(/\{(\w+)\}/g, ":$1");
      for (const variant of [url, `${url}/`]) addRoutes(scope, variant, operations, services);
    }
    scope.route({
      method: scope.supportedMethods,
      url: "/v1/*",
      ...respondBeforeBody(() => {
        throw new ServiceError("not_found", UNKNOWN_ENDPOINT);
      }),
    });
  };
}

interface RestServices {
  service: Service;
  streams: OpenStreams;
  bodies: StreamedBodies;
}

/** Adds the operations of one path. Fastify adds HEAD to GET. */
function addRoutes(
  scope: FastifyInstance,
  url: string,
  operations: readonly Operation[],
  services: RestServices,
): void {
  for (const operation of operations) {
    const { bodyLimit, streamedBody } = operation;
    const handler = (request: FastifyRequest, reply: FastifyReply) => respond(operation, services, request, reply);
    // The body of a caller who may not call the operation is not read. Without it, the procedure rejects the call as with it.
    const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
      const { caller, raw } = request;
      if (caller === null || raw.complete || mayCallProcedure(caller, operation.procedure)) return undefined;
      return handler(request, reply);
    };
    const errorHandler = (error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
      request.unreadableBody = toUnreadableBody(error, bodyLimit, streamedBody?.contentTypes);
      if (request.unreadableBody === null) sendRequestError(error, request, reply);
      else void handler(request, reply);
    };
    const route = { method: operation.method, url, bodyLimit, onRequest, handler, errorHandler };
    if (streamedBody === null) scope.route(route);
    else addStreamedRoute(scope, route, streamedBody);
  }
  const allowed = operations.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method]));
  const method = scope.supportedMethods.filter((each) => !allowed.includes(each));
  scope.route({ method, url, ...respondBeforeBody((reply) => sendMethodNotAllowed(reply, allowed)) });
}

/** Adds a route whose handler reads the body itself. Its own scope has no parser that would read the body into memory. */
function addStreamedRoute(scope: FastifyInstance, route: RouteOptions, { contentTypes }: StreamedBody): void {
  void scope.register(async (own) => {
    own.removeAllContentTypeParsers();
    own.addContentTypeParser([...contentTypes], (_request, body, done) => done(null, body));
    own.route(route);
  });
}

/** Responds in a hook, because an unreadable body would otherwise be the error. The handler is required, and never called. */
function respondBeforeBody(send: (reply: FastifyReply) => FastifyReply) {
  const onRequest = async (_request: FastifyRequest, reply: FastifyReply) => send(reply);
  return { onRequest, handler: onRequest };
}

async function respond(
  operation: Operation,
  { service, streams, bodies }: RestServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (hasBody(operation) && !hasAcceptedType(operation, request))
    request.unreadableBody ??= unsupportedType(operation.streamedBody?.contentTypes);
  try {
    const streamed = STREAMED_OPERATIONS[operation.procedure];
    if (streamed !== undefined && wantsStream(request))
      return await streams.respond({ operation, streamed }, readInput(operation, request, bodies), reply);
    const context = createContext(service, request, reply);
    const input = readInput(operation, request, bodies);
    const data = await callRouterProcedure(context, operation.procedure, () => input, createDisconnectSignal(reply));
    const { download } = operation.openapi;
    if (download !== undefined)
      return sendDownload(reply.code(operation.successStatus).type(download), data as Download);
    return reply.code(operation.successStatus).send(data);
  } catch (error) {
    return sendProcedureError(error, operation, reply);
  }
}

function hasAcceptedType({ streamedBody, requiresBody }: Operation, { headers }: FastifyRequest): boolean {
  // Media types are case-insensitive (RFC 9110, section 8.3.1).
  const type = headers["content-type"]?.toLowerCase();
  if (type === undefined && !requiresBody) return true;
  const accepted = streamedBody?.contentTypes ?? ["application/json"];
  return type !== undefined && accepted.some((each) => type.startsWith(each));
}

/** A path parameter takes precedence over a field of the same name. */
function readInput(
  operation: Operation,
  { body, query, params, raw }: FastifyRequest,
  bodies: StreamedBodies,
): object | undefined {
  const { input, streamedBody, bodyLimit } = operation;
  if (input === undefined) return undefined;
  const inPath = readParameters(operation, params as object);
  const hasJson = streamedBody === null && hasBody(operation);
  const fields = hasJson ? (body as object | undefined) : readParameters(operation, withoutFollow(operation, query));
  const given = omitAbsent(input, { ...fields, ...inPath }) as object;
  return streamedBody === null ? given : { ...given, [streamedBody.field]: bodies.read(raw, bodyLimit) };
}

/** The parameter `follow` of an operation with a stream is no field of its input. */
function withoutFollow({ procedure }: Operation, query: unknown): object {
  if (STREAMED_OPERATIONS[procedure] === undefined) return query as object;
  const { follow: _, ...others } = query as { follow?: unknown };
  return others;
}

function createContext(service: Service, request: FastifyRequest, reply: FastifyReply): Context {
  const key = request.headers["idempotency-key"];
  return callContext(service, request.caller, {
    acceptsDownloads: true,
    address: request.ip,
    unreadableBody: request.unreadableBody,
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
