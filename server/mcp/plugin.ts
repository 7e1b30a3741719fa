import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { limitCalls } from "../../domain/rate-limits/limit-calls.ts";
import { InsufficientScope, RateLimited, ServiceError } from "../../domain/shared/errors.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { authenticateRequest, isStillAuthenticated, type RequestAuthentication } from "../auth/authenticator.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createCorsHeaders, createPreflightHeaders } from "./cors.ts";
import { FastPath } from "./fast-path.ts";
import {
  forbidden,
  foreignOrigin,
  type GatewayError,
  insufficientScope,
  methodNotAllowed,
  rateLimited,
  unauthenticated,
  unavailable,
  unreadableBody,
} from "./gateway-errors.ts";
import { createGatewayServer, GATEWAY } from "./gateway-server.ts";
import { type GatewayCall, GatewayTools } from "./gateway-tools.ts";
import { findInsufficientScope } from "./step-up.ts";
import { type StreamRevocation, watchStreams } from "./stream-revocation.ts";
import { McpTransport } from "./transport.ts";

export interface McpOptions extends RequestAuthentication {
  capabilities: Capabilities;
  log: Logger;
  publicUrl: () => string;
}

const BODY_LIMIT = 4 * 1024 * 1024;

/** The tool gateway at `POST /mcp`. */
export function mcpPlugin(options: McpOptions) {
  const { capabilities, log, publicUrl } = options;
  let ownUrl: URL | null = null;
  const tools = new GatewayTools(capabilities);
  const fastPath = new FastPath(tools, GATEWAY);
  const transport = new McpTransport<GatewayCall>({
    createServer: (call) => createGatewayServer(tools, call),
    onError: (err) => log.debug({ err }, "the gateway rejected a message"),
  });
  return async (scope: FastifyInstance): Promise<void> => {
    scope.decorateRequest("caller", null);
    scope.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
      const status = error.statusCode ?? 500;
      if (status >= 500) request.log.error({ err: error }, "a call of the gateway failed");
      return sendError(reply, unreadableBody(status));
    });
    scope.addHook("onRequest", async (request, reply) => {
      // The public URL is known once the server listens.
      ownUrl ??= URL.parse(publicUrl());
      if (ownUrl !== null && isOwnOrigin(request.headers, ownUrl))
        void reply.headers(createCorsHeaders(request.headers));
      if (request.method === "OPTIONS") return reply.code(204).headers(createPreflightHeaders(request.headers)).send();
      const error = await authorize(request, ownUrl, options);
      return error === null ? undefined : sendError(reply, error);
    });
    const streams = openStreams(scope, transport, options);
    scope.route({
      method: ["GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS"],
      url: "/mcp",
      exposeHeadRoute: false,
      handler: (_request, reply) => sendError(reply, methodNotAllowed()),
    });
    scope.post("/mcp", { bodyLimit: BODY_LIMIT }, async (request, reply) => {
      const { caller, headers, body: parsedBody } = request;
      if (caller === null) throw new Error("a request reached the gateway before it was authenticated");
      const call = { caller, address: request.ip, log, signal: createDisconnectSignal(reply) };
      const scopeError = await findInsufficientScope(tools, call, parsedBody);
      if (scopeError !== null) return sendError(reply, insufficientScope(scopeError, publicUrl()));
      const post = { headers, parsedBody };
      const json = await fastPath.respond(post, call);
      if (json !== null) return reply.header("content-type", "application/json").send(Buffer.from(json));
      return sendResponse(reply, await transport.respond(post, caller.orgId, call), streams);
    });
  };
}

/** Notifies subscriptions about changed tools, and ends them when their credentials become invalid or the server closes. */
function openStreams(
  scope: FastifyInstance,
  transport: McpTransport<GatewayCall>,
  options: McpOptions,
): StreamRevocation {
  const { tokens, apps } = options.capabilities;
  const streams = watchStreams(tokens.accessChanges, (request) => isStillAuthenticated(request, options));
  const unlisten = apps.changes.listen(
    (orgId) => transport.notifyToolsChanged(orgId),
    () => transport.notifyAll(),
  );
  // The server waits for its connections to end before it closes, and a subscription does not end without this hook.
  scope.addHook("preClose", async () => {
    streams.stop();
    unlisten();
    await transport.close();
  });
  return streams;
}

/** Authenticates and counts a request before its body is read. Returns the error of a request that is rejected. */
async function authorize(
  request: FastifyRequest,
  ownUrl: URL | null,
  options: McpOptions,
): Promise<GatewayError | null> {
  const { capabilities, publicUrl } = options;
  if (ownUrl === null || !isOwnOrigin(request.headers, ownUrl)) return foreignOrigin();
  try {
    request.caller = await authenticateRequest(request, options);
    if (request.caller === null) return unauthenticated(request.headers, publicUrl());
    if (request.caller.scope === null) return insufficientScope(new InsufficientScope("read", null), publicUrl());
    if (request.method === "POST") await limitCalls(capabilities.rateLimits.callCounter, request.caller.orgId);
    return null;
  } catch (error) {
    if (error instanceof RateLimited) return rateLimited(error);
    if (error instanceof ServiceError && error.code === "forbidden") return forbidden(error);
    if (error instanceof ServiceError && error.code === "unavailable") return unavailable(error);
    throw error;
  }
}

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Whether a request comes from the service's own site. A page of another site must not use a token that a browser on this
 * machine stores, and must not reach a service on a loopback address through its own domain name (DNS rebinding). Clients
 * other than browsers send no `Origin`.
 */
export function isOwnOrigin({ origin, host }: IncomingHttpHeaders, own: URL): boolean {
  if (origin !== undefined && !isSameSite(URL.parse(origin), own)) return false;
  return isSameSite(URL.parse(`http://${host ?? ""}`), own);
}

function isSameSite(url: URL | null, own: URL): boolean {
  if (url === null) return false;
  return url.hostname === own.hostname || (LOOPBACK.has(url.hostname) && LOOPBACK.has(own.hostname));
}

/** Creates a signal that is aborted when the client disconnects before it has the response. */
function createDisconnectSignal({ raw }: FastifyReply): AbortSignal {
  const controller = new AbortController();
  raw.once("close", () => {
    if (!raw.writableFinished) controller.abort();
  });
  return controller.signal;
}

async function sendResponse(reply: FastifyReply, response: Response, streams: StreamRevocation): Promise<FastifyReply> {
  void reply.code(response.status);
  for (const [name, value] of response.headers) void reply.header(name, value);
  if (response.body === null) return reply.send("");
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true)
    return reply.send(Buffer.from(await response.arrayBuffer()));
  const stream = Readable.fromWeb(response.body);
  streams.watch(stream, reply.request);
  return reply.send(stream);
}

function sendError(reply: FastifyReply, { status, headers, body }: GatewayError): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
