import { Readable } from "node:stream";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { RateLimited, ServiceError } from "../../domain/shared/errors.ts";
import { limitCalls } from "../../domain/rate-limits/limit-calls.ts";
import type { Capabilities } from "../../routers/core/context.ts";
import { authenticateRequest, isStillAuthenticated, type RequestAuthentication } from "../auth/authenticate-request.ts";
import { callContext } from "../context.ts";
import type { Logger } from "../telemetry/logger.ts";
import {
  forbidden,
  foreignOrigin,
  type GatewayError,
  rateLimited,
  unauthenticated,
  unavailable,
  unreadable,
  wrongMethod,
} from "./errors.ts";
import { gatewayServer, PLAIN_METHODS } from "./gateway-server.ts";
import { isOwnOrigin } from "./origin.ts";
import { closeWhenRevoked } from "./stream-revocation.ts";
import type { GatewayCall } from "./tool-methods.ts";
import { McpTransport } from "./transport.ts";

export interface McpOptions extends RequestAuthentication {
  capabilities: Capabilities;
  log: Logger;
  publicUrl: () => string;
}

const BODY_LIMIT = 4 * 1024 * 1024;

/** The tool gateway at `POST /mcp`. */
export function mcpPlugin(options: McpOptions) {
  const { capabilities, log } = options;
  const transport = new McpTransport<GatewayCall>({
    serverFor: gatewayServer,
    plainMethods: PLAIN_METHODS,
    onError: (err) => log.debug({ err }, "the gateway refused a message"),
  });
  return async (scope: FastifyInstance): Promise<void> => {
    scope.decorateRequest("caller", null);
    scope.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
      const status = error.statusCode ?? 500;
      if (status >= 500) request.log.error({ err: error }, "a call of the gateway failed");
      return send(reply, unreadable(status));
    });
    scope.addHook("onRequest", async (request, reply) => {
      const refused = await whyRefused(request, options);
      if (refused !== null) await send(reply, refused);
    });
    closeWhenRevoked(scope, capabilities.tokens.accessChanges, (request) => isStillAuthenticated(request, options));
    const unlisten = capabilities.apps.changes.listen(
      (orgId) => transport.toolsChanged(orgId),
      () => transport.anyToolsChanged(),
    );
    // Before the server waits for its connections to end: a subscription never does by itself.
    scope.addHook("preClose", async () => {
      unlisten();
      await transport.close();
    });
    scope.route({
      method: ["GET", "HEAD", "DELETE", "PUT", "PATCH", "OPTIONS"],
      url: "/mcp",
      exposeHeadRoute: false,
      handler: (_request, reply) => send(reply, wrongMethod()),
    });
    scope.post("/mcp", { bodyLimit: BODY_LIMIT }, async (request, reply) => {
      const { caller, headers, body: parsedBody } = request;
      const call = {
        context: callContext(capabilities, caller, { address: request.ip }),
        log,
        signal: whileAwaited(reply),
      };
      const orgId = caller?.orgId ?? "";
      return relay(reply, await transport.answer({ headers, parsedBody, orgId, context: call }));
    });
  };
}

/** Lets the caller in, before the body is read, or says why not. */
async function whyRefused(request: FastifyRequest, options: McpOptions): Promise<GatewayError | null> {
  const { capabilities, publicUrl } = options;
  if (!isOwnOrigin(request.headers, publicUrl())) return foreignOrigin();
  try {
    const caller = await authenticateRequest(request, options);
    if (caller === null) return unauthenticated(publicUrl());
    request.caller = caller;
    if (request.method === "POST") await limitCalls(capabilities.rateLimits.callCounter, caller.orgId);
    return null;
  } catch (error) {
    if (error instanceof RateLimited) return rateLimited(error);
    if (error instanceof ServiceError && error.code === "forbidden") return forbidden(error);
    if (error instanceof ServiceError && error.code === "unavailable") return unavailable(error);
    throw error;
  }
}

/** Aborted when the client hangs up before it has its answer. */
function whileAwaited({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController();
  raw.once("close", () => {
    if (!raw.writableFinished) left.abort();
  });
  return left.signal;
}

async function relay(reply: FastifyReply, answer: string | Response): Promise<FastifyReply> {
  if (typeof answer === "string") return reply.header("content-type", "application/json").send(Buffer.from(answer));
  void reply.code(answer.status);
  for (const [name, value] of answer.headers) void reply.header(name, value);
  if (answer.body === null) return reply.send("");
  const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream") === true;
  return reply.send(isStream ? Readable.fromWeb(answer.body) : Buffer.from(await answer.arrayBuffer()));
}

function send(reply: FastifyReply, { status, headers, body }: GatewayError): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
