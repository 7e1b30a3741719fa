import http from "node:http";
import { type FastifyBaseLogger, type FastifyInstance, fastify, LogController } from "fastify";
import type { Db } from "../domain/database-types.ts";
import type { Service } from "../routers/core/context.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import { forbidCaching } from "./http/cache-control.ts";
import { trustedPeers } from "./http/client-address.ts";
import { ClientConnections } from "./http/client-connections.ts";
import { hooksPlugin } from "./hooks/plugin.ts";
import { handleClientErrors, type StreamedConnections } from "./http/client-errors.ts";
import { INVALID_HOST, namesOneHost } from "./http/host-header.ts";
import type { MembershipResolver } from "../domain/users/membership-resolver.ts";
import type { Config } from "./config.ts";
import { dashboardPlugin } from "./web/dashboard.ts";
import { downloadsPlugin } from "./web/downloads.ts";
import { type HealthOptions, healthPlugin, type ReadinessChecks, type ReadinessDetails } from "./http/health.ts";
import type { Logger } from "./telemetry/logger.ts";
import { sendRequestError, UNKNOWN_ENDPOINT } from "./rest/error-response.ts";
import type { Auth } from "./identity/open-auth.ts";
import { identityPlugin } from "./identity/plugin.ts";
import { mcpPlugin } from "./mcp/plugin.ts";
import { docsPlugin } from "./rest/docs.ts";
import { addRequestIds, readRequestId, setRequestId } from "./http/request-id.ts";
import { restPlugin } from "./rest/plugin.ts";
import { rpcPlugin } from "./rpc/plugin.ts";

export interface HttpServerOptions {
  /** Without the role `api`, the server responds only whether the process is ready. */
  roles: Config["roles"];
  service: Service;
  db: Db;
  authenticator: Authenticator;
  gatewayAuthenticator: Authenticator;
  membershipResolver: MembershipResolver;
  auth: () => Promise<Auth>;
  signIn: Pick<Config, "signUp" | "social">;
  trustedProxies: Config["trustedProxies"];
  log: Logger;
  publicUrl: () => string;
  readiness: ReadinessChecks;
  readinessDetails: ReadinessDetails;
  /** Aborted when the process is about to stop. It serves requests until the server is closed. */
  draining: AbortSignal;
}

/** Times in milliseconds. A complete request must arrive within 30 s, except a streamed body; Node checks that at an interval. */
const SERVER_OPTIONS = { requestTimeout: 30_000, connectionsCheckingInterval: 1000, keepAliveTimeout: 72_000 };

/** In characters. Node limits the URL with all headers to 16 KiB. */
const MAX_URL_PARAMETER = 16 * 1024;

/** Creates the HTTP server of the control plane; it does not listen yet. */
export async function createHttpServer(options: HttpServerOptions): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = options.log;
  const connections = new ClientConnections(options.draining);
  const streamedConnections: StreamedConnections = new WeakSet();
  const server: FastifyInstance = fastify({
    serverFactory: (handler) => connections.prepare(http.createServer(SERVER_OPTIONS, handler)),
    clientErrorHandler: handleClientErrors(streamedConnections),
    loggerInstance,
    // Fastify would log two lines per request, with the query string.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: readRequestId,
    // A request whose URL cannot be decoded reaches neither a hook nor the error handler.
    frameworkErrors: (error, request, reply) => {
      setRequestId(request, reply);
      forbidCaching(request, reply);
      void sendRequestError(error, request, reply);
    },
    trustProxy: trustedPeers(options.trustedProxies) ?? false,
    schemaController: { compilersFactory: { buildValidator: rejectSchema, buildSerializer: rejectSchema } },
    forceCloseConnections: "idle",
    // A request on an open connection is served, although the server listens no more.
    return503OnClosing: false,
    // By default, a URL with a longer id would match no route and be reported as an unknown endpoint.
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false, maxParamLength: MAX_URL_PARAMETER },
  });
  server.addHook("preClose", async () => {
    connections.closeUnused();
    connections.closeStalled();
  });
  addRequestIds(server);
  server.addHook("onRequest", async ({ raw, is404 }, reply) => {
    if (!namesOneHost(raw)) return reply.code(400).send({ error: INVALID_HOST });
    // The body of a request to an unknown URL is not read.
    return is404 ? reply.code(404).send({ error: UNKNOWN_ENDPOINT }) : undefined;
  });
  server.addHook("onSend", async (request, reply) => {
    forbidCaching(request, reply);
    const { raw } = request;
    // The rest of the body would be read for the next request on the connection.
    if (!raw.complete && hasBody(raw)) void reply.header("connection", "close");
  });
  server.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: UNKNOWN_ENDPOINT }));
  server.setErrorHandler(sendRequestError);
  await server.register(healthPlugin(toHealthOptions(options)));
  if (options.roles.has("api")) await registerApi(server, { ...options, streamedConnections });
  return server;
}

function toHealthOptions({ readiness, readinessDetails, draining }: HttpServerOptions): HealthOptions {
  return { checks: readiness, details: readinessDetails, draining };
}

async function registerApi(
  server: FastifyInstance,
  options: HttpServerOptions & { streamedConnections: StreamedConnections },
): Promise<void> {
  await server.register(docsPlugin(options.publicUrl));
  await server.register(identityPlugin(options));
  await server.register(dashboardPlugin(options));
  await server.register(downloadsPlugin(options));
  await server.register(hooksPlugin(options));
  await server.register(restPlugin(options));
  await server.register(rpcPlugin(options));
  await server.register(mcpPlugin({ ...options, authenticator: options.gatewayAuthenticator }));
}

function hasBody({ headers }: http.IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
}

/** tRPC validates, so no route has a Fastify schema. Without this function Fastify would load its schema compilers. */
function rejectSchema(): never {
  throw new Error("Routes have no Fastify schemas. Procedures validate their input and output.");
}
