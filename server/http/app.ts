import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
  LogController,
} from "fastify";
import type { Db } from "../../domain/database-types.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import type { Authenticator } from "../auth/authenticator.ts";
import { trustedPeers } from "./client-address.ts";
import type { MembershipResolver } from "../../domain/users/membership-resolver.ts";
import type { Config } from "../config.ts";
import { dashboardPlugin } from "./dashboard.ts";
import { healthPlugin, type ReadinessCheck } from "./health.ts";
import type { Logger } from "../telemetry/logger.ts";
import { answerError } from "../rest/bodies.ts";
import type { Auth } from "../identity/open-auth.ts";
import { identityPlugin } from "../identity/plugin.ts";
import { mcpPlugin } from "../mcp/plugin.ts";
import { docsPlugin } from "../rest/docs.ts";
import { requestIdOf } from "./request-id.ts";
import { restPlugin } from "../rest/plugin.ts";
import { rpcPlugin } from "../rpc/plugin.ts";

export interface AppOptions {
  capabilities: Capabilities;
  db: Db;
  authenticator: Authenticator;
  gatewayAuthenticator: Authenticator;
  membershipResolver: MembershipResolver;
  auth: () => Promise<Auth>;
  signIn: Pick<Config, "signUp" | "social">;
  trustedProxies: Config["trustedProxies"];
  log: Logger;
  publicUrl: () => string;
  readiness: readonly ReadinessCheck[];
}

/** A request must arrive whole within this time, in milliseconds. */
const REQUEST_MS = 30_000;

/** The control plane's HTTP server, without a port. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const loggerInstance: FastifyBaseLogger = options.log;
  const app: FastifyInstance = fastify({
    loggerInstance,
    // One line an answer is enough, and it is ours: the path without its query.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    // A URL that cannot be decoded reaches neither a hook nor the error handler.
    frameworkErrors: (error, request, reply) => {
      identify(request, reply);
      void answerError(error, request, reply);
    },
    requestTimeout: REQUEST_MS,
    trustProxy: trustedPeers(options.trustedProxies) ?? false,
    // Node looks only so often whether a request is late.
    http: { connectionsCheckingInterval: 1000 },
    schemaController: { compilersFactory: { buildValidator: refuseSchema, buildSerializer: refuseSchema } },
    forceCloseConnections: "idle",
    routerOptions: { caseSensitive: true, ignoreTrailingSlash: false },
  });
  identifyRequests(app);
  app.setNotFoundHandler((_request, reply) =>
    reply.code(404).send({ error: "No such endpoint. See /docs for those there are." }),
  );
  app.setErrorHandler(answerError);
  await app.register(healthPlugin(options.readiness));
  await app.register(docsPlugin(options.publicUrl));
  await app.register(identityPlugin(options));
  await app.register(dashboardPlugin({ db: options.db, signIn: options.signIn }));
  await app.register(restPlugin(options));
  await app.register(rpcPlugin(options));
  await app.register(mcpPlugin({ ...options, authenticator: options.gatewayAuthenticator }));
  return app;
}

/** tRPC validates, so no route has a schema of Fastify's. Without this, Fastify loads its compilers for schemas. */
function refuseSchema(): never {
  throw new Error("Routes have no Fastify schemas. Procedures validate their input and output.");
}

function identify(request: FastifyRequest, reply: FastifyReply): void {
  void reply.headers({ "x-request-id": request.id, "x-content-type-options": "nosniff" });
}

function identifyRequests(app: FastifyInstance): void {
  app.addHook("onRequest", async (request, reply) => {
    identify(request, reply);
  });
  app.addHook("onResponse", async (request, reply) => {
    // The path alone: a query string can carry what should not be written down, and so does the link of an invitation.
    const path = request.url
      .split("?", 1)[0]
      ?.replace(/^\/invitations\/.*/, "/invitations/…")
      .slice(0, 200);
    const details = { method: request.method, path, status: reply.statusCode, ms: Math.round(reply.elapsedTime) };
    request.log.info(details, "answered");
  });
}
