import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandler } from "fastify";
import type { ChangeFeed } from "../../domain/ports/change-feed.ts";
import { limitCalls } from "../../domain/rate-limits/limit-calls.ts";
import type { Caller } from "../../domain/shared/caller.ts";
import { InsufficientScope, RateLimited, ServiceError } from "../../domain/shared/errors.ts";
import { isRecord } from "../../domain/shared/json.ts";
import { isTooComplexJson, TOO_COMPLEX } from "../../domain/shared/json-limits.ts";
import { runForOrganization } from "../../domain/shared/transaction.ts";
import type { Service } from "../../routers/core/context.ts";
import { authenticateRequest, isStillAuthenticated, type RequestAuthentication } from "../auth/authenticator.ts";
import { createDisconnectSignal } from "../http/disconnect-signal.ts";
import { areLoopbackHosts, selectOwnOrigin } from "../http/own-origins.ts";
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
  tooManyStreams,
  unauthenticated,
  unavailable,
  unreadableBody,
  unsupportedTransport,
} from "./gateway-errors.ts";
import { createGatewayServer, GATEWAY } from "./gateway-server.ts";
import { type GatewayCall, GatewayTools } from "./gateway-tools.ts";
import { HTTP_SSE_PATH, NotificationStreams, wantsNotificationStream } from "./notification-streams.ts";
import { omitNulls } from "./omit-nulls.ts";
import { explainProtocolErrors } from "./protocol-errors.ts";
import { StreamLimiter } from "../http/stream-limiter.ts";
import { type StreamRevocation, watchStreams } from "../http/stream-revocation.ts";
import { findInsufficientScope } from "./step-up.ts";
import { McpTransport } from "./transport.ts";

export interface McpOptions extends RequestAuthentication {
  service: Service;
  log: Logger;
  publicUrl: () => string;
}

const BODY_LIMIT = 4 * 1024 * 1024;
/** Users add a slash to the URL that they give to a client, and some clients do. */
const PATHS = ["/mcp", "/mcp/"];

/** The tool gateway at `POST /mcp`, and its notifications at `GET /mcp`. */
export function mcpPlugin(options: McpOptions) {
  const { service, log, publicUrl } = options;
  let ownUrl: URL | null = null;
  const tools = new GatewayTools(service);
  const fastPath = new FastPath(tools, GATEWAY);
  const transport = new McpTransport<SdkCall>({
    createServer: (call) => createGatewayServer(tools, call, call.toolCount),
    onError: (err) => log.debug({ err }, "the gateway rejected a message"),
  });
  return async (scope: FastifyInstance): Promise<void> => {
    scope.decorateRequest("caller", null);
    addBoundedParser(scope);
    scope.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
      const status = error.statusCode ?? 500;
      if (status >= 500) request.log.error({ err: error }, "a call of the gateway failed");
      return sendError(reply, unreadableBody(status));
    });
    scope.addHook("onRequest", async (request, reply) => {
      // The public URL is known once the server listens.
      ownUrl ??= URL.parse(publicUrl());
      const { origin } = request.headers;
      const isOwn = ownUrl !== null && isOwnOrigin(request.headers, ownUrl);
      // Only browsers send an origin.
      if (isOwn && origin !== undefined) void reply.headers(createCorsHeaders(origin));
      if (request.method === "OPTIONS") return reply.code(204).headers(createPreflightHeaders(request.headers)).send();
      const error = isOwn ? await authorize(request, options) : foreignOrigin();
      return error === null ? undefined : sendError(reply, error);
    });
    const streams = openStreams(scope, transport, options);
    const respond = async (caller: Caller, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { headers } = request;
      const parsedBody = omitNulls(request.body);
      const call = { caller, address: request.ip, log, signal: createDisconnectSignal(reply) };
      const scopeError = mayRequestScope(caller) ? await findInsufficientScope(tools, call, parsedBody) : null;
      if (scopeError !== null) return sendError(reply, insufficientScope(scopeError, originOf(request, publicUrl())));
      const message = { headers, parsedBody };
      const json = await fastPath.respond(message, call);
      if (json !== null) return reply.header("content-type", "application/json").send(Buffer.from(json));
      const toolCount = readsInstructions(parsedBody) ? await tools.countTools(call) : 0;
      return sendResponse(reply, await transport.respond(message, caller.orgId, { ...call, toolCount }), streams);
    };
    const post = (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
      const { caller } = request;
      if (caller === null) throw new Error("a request reached the gateway before it was authenticated");
      return runForOrganization(caller.orgId, () => respond(caller, request, reply));
    };
    scope.post(HTTP_SSE_PATH, (request, reply) =>
      sendError(reply, unsupportedTransport(originOf(request, publicUrl()))),
    );
    addRoutes(scope, { post, get: (request, reply) => openStream(request, reply, streams) });
  };
}

/** A call that the SDK handles. */
interface SdkCall extends GatewayCall {
  /** The number of tools in the list of the caller, for a request that reads the instructions. */
  toolCount: number;
}

const WITH_INSTRUCTIONS = ["initialize", "server/discover"];

/** Whether the response to a message, or to one of a batch, contains the instructions of the server. */
function readsInstructions(body: unknown): boolean {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  return messages.some((message) => isRecord(message) && WITH_INSTRUCTIONS.includes(String(message["method"])));
}

/** Rejects a body whose values would take too much time and memory, before it is parsed. */
function addBoundedParser(scope: FastifyInstance): void {
  const parse = scope.getDefaultJsonParser("error", "error");
  scope.addContentTypeParser("application/json", { parseAs: "string" }, (request, body, done) => {
    if (!isTooComplexJson(body as string)) return void parse(request, body as string, done);
    done(Object.assign(new Error(`The request body ${TOO_COMPLEX}.`), { statusCode: 400 }));
  });
}

interface OpenStreams {
  limiter: StreamLimiter;
  revocation: StreamRevocation;
  notifications: NotificationStreams;
}

/** Notifies open streams about changed tools, and ends them when their credentials become invalid or the server closes. */
function openStreams(scope: FastifyInstance, transport: McpTransport<SdkCall>, options: McpOptions): OpenStreams {
  const { accessChanges, changes } = options.service;
  const revocation = watchStreams(accessChanges, (request) => isStillAuthenticated(request, options));
  const notifications = new NotificationStreams();
  const unlisten = forwardToolChanges(changes, [transport, notifications]);
  // The server waits for its connections to end before it closes, and a subscription does not end without this hook.
  scope.addHook("preClose", async () => {
    revocation.stop();
    unlisten();
    notifications.close();
    await transport.close();
  });
  return { limiter: new StreamLimiter(), revocation, notifications };
}

function addRoutes(scope: FastifyInstance, { post, get }: Record<"post" | "get", RouteHandler>): void {
  for (const url of PATHS) {
    scope.post(url, { bodyLimit: BODY_LIMIT }, post);
    scope.get(url, { exposeHeadRoute: false }, get);
    scope.route({
      method: ["HEAD", "DELETE", "PUT", "PATCH", "OPTIONS"],
      url,
      exposeHeadRoute: false,
      handler: (_request, reply) => sendError(reply, methodNotAllowed()),
    });
  }
}

/** Authenticates and counts a request before its body is read. Returns the error of a request that is rejected. */
async function authorize(request: FastifyRequest, options: McpOptions): Promise<GatewayError | null> {
  const { service, publicUrl } = options;
  try {
    request.caller = await authenticateRequest(request, options);
    const { caller, headers } = request;
    if (caller === null) return unauthenticated(headers, originOf(request, publicUrl()));
    if (caller.scope === null)
      return insufficientScope(new InsufficientScope("read", null), originOf(request, publicUrl()));
    if (request.method === "POST" || request.method === "GET") await limitCalls(service.callCounter, caller.orgId);
    return null;
  } catch (error) {
    if (error instanceof RateLimited) return rateLimited(error);
    if (error instanceof ServiceError && error.code === "forbidden") return forbidden(error);
    if (error instanceof ServiceError && error.code === "unavailable") return unavailable(error);
    throw error;
  }
}

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
  return url !== null && (url.hostname === own.hostname || areLoopbackHosts(url.hostname, own.hostname));
}

/** Whether the client can request a scope that its token lacks: the clients of OAuth can, and other tokens have fixed scopes. */
function mayRequestScope({ credential, scope }: Caller): boolean {
  return credential.kind === "access_token" && scope !== "everything";
}

/** The origin of the service by which a client knows the gateway. */
function originOf({ headers }: FastifyRequest, publicUrl: string): string {
  return selectOwnOrigin(publicUrl, headers.host);
}

interface ToolChangeListener {
  notifyToolsChanged(orgId: string): void;
  notifyAll(): void;
}

function forwardToolChanges(changes: ChangeFeed, listeners: readonly ToolChangeListener[]): () => void {
  return changes.listen(
    (orgId) => {
      for (const listener of listeners) listener.notifyToolsChanged(orgId);
    },
    () => {
      for (const listener of listeners) listener.notifyAll();
    },
  );
}

/** Responds to a GET with a stream of notifications. */
function openStream(request: FastifyRequest, reply: FastifyReply, streams: OpenStreams): FastifyReply {
  const { caller, headers } = request;
  if (!wantsNotificationStream(headers)) return sendError(reply, methodNotAllowed());
  const stream = caller === null ? null : streams.notifications.open(caller.orgId, headers["mcp-protocol-version"]);
  if (stream === null) return sendError(reply, unavailable(new ServiceError("unavailable", STOPPING)));
  void reply.headers({ "content-type": "text/event-stream", "x-accel-buffering": "no" });
  return sendStream(reply, stream, streams);
}

const STOPPING = "The service is stopping. Try again.";

async function sendResponse(reply: FastifyReply, response: Response, streams: OpenStreams): Promise<FastifyReply> {
  void reply.code(response.status);
  for (const [name, value] of response.headers) void reply.header(name, value);
  if (response.body === null) return reply.send("");
  if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true)
    return reply.send(Buffer.from(explainProtocolErrors(await response.text())));
  return sendStream(reply, Readable.fromWeb(response.body), streams);
}

/** Sends a stream of notifications within the limits, until the credentials of its request become invalid. */
function sendStream(reply: FastifyReply, stream: Readable, { limiter, revocation }: OpenStreams): FastifyReply {
  const { caller } = reply.request;
  if (caller === null) throw new Error("a request got a stream before it was authenticated");
  const reached = limiter.add(stream, caller);
  if (reached !== null) {
    stream.destroy();
    return sendError(reply.removeHeader("content-type"), tooManyStreams(reached));
  }
  revocation.watch(stream, reply.request);
  return reply.send(stream);
}

function sendError(reply: FastifyReply, { status, headers, body }: GatewayError): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
