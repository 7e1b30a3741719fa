import type { IncomingHttpHeaders } from "node:http";
import {
  type InsufficientScope,
  INTERNAL_ERROR,
  type RateLimited,
  type ServiceError,
} from "../../domain/shared/errors.ts";
import { challengeError, formatChallenge, scopeChallenge } from "../auth/bearer-challenge.ts";
import { explainGatewayUnauthenticated } from "../auth/unauthenticated.ts";
import type { ReachedLimit } from "../http/stream-limiter.ts";

/** An error that the gateway returns before the protocol handles the request. */
export interface GatewayError {
  status: number;
  headers: Record<string, string>;
  body: {
    jsonrpc: "2.0";
    id: null;
    error: { code: number; message: string; data?: object };
  };
}

function createError(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
): GatewayError {
  return { status, headers, body: { jsonrpc: "2.0", id: null, error: { code, message } } };
}

/** The methods of `/mcp`, as the header `Allow` lists them. */
export const ALLOWED_METHODS = "GET, POST";

/**
 * The 401 tells OAuth clients where to read how users sign in (RFC 9728, section 5.1), and which scope to request. Without
 * `offline_access`, earlier clients would send the user to the consent page every 15 minutes.
 */
export function unauthenticated({ authorization }: IncomingHttpHeaders, publicUrl: string): GatewayError {
  const challenge = {
    resource_metadata: metadataUrl(publicUrl),
    scope: "everything offline_access",
    ...challengeError(authorization),
  };
  const message = explainGatewayUnauthenticated(authorization, publicUrl);
  return createError(401, -32_001, message, { "www-authenticate": formatChallenge(challenge) });
}

/** Tells an OAuth client to request the scope from its user and to repeat the request. */
export function insufficientScope(error: InsufficientScope, publicUrl: string): GatewayError {
  const challenge = { ...scopeChallenge(error), resource_metadata: metadataUrl(publicUrl) };
  return createError(403, -32_003, error.message, { "www-authenticate": formatChallenge(challenge) });
}

function metadataUrl(publicUrl: string): string {
  return `${publicUrl}/.well-known/oauth-protected-resource/mcp`;
}

export function forbidden({ message }: ServiceError): GatewayError {
  return createError(403, -32_003, message);
}

export function unavailable({ message }: ServiceError): GatewayError {
  return createError(503, -32_000, message, { "retry-after": "1" });
}

export function methodNotAllowed(): GatewayError {
  const message = "Send requests with POST. GET with Accept: text/event-stream opens a stream of notifications.";
  return createError(405, -32_000, message, { allow: ALLOWED_METHODS });
}

export function unsupportedTransport(publicUrl: string): GatewayError {
  const message = `The HTTP+SSE transport is not supported. Set the transport of the client to Streamable HTTP (often named "http"), with the URL ${publicUrl}/mcp.`;
  return createError(404, -32_000, message);
}

const STREAM_RETRY_SECONDS = 60;

/** The error for one more stream of notifications. The caller can close its own streams, and the process is busy beyond them. */
export function tooManyStreams({ limit, of }: ReachedLimit): GatewayError {
  if (of === "process")
    return createError(503, -32_000, "Too many streams of notifications are open. Try again later.", {
      "retry-after": String(STREAM_RETRY_SECONDS),
    });
  const whose = of === "token" ? "This token" : "Your organization";
  const message = `${whose} has ${limit} open streams of notifications, which is the limit. Close some, then try again.`;
  return rateLimited({ message, retryAfterSeconds: STREAM_RETRY_SECONDS });
}

export function foreignOrigin(): GatewayError {
  return createError(403, -32_000, "The Origin or Host of this request is not allowed.");
}

/** The error for a body that cannot be read, by the status of the body parser. */
export function unreadableBody(status: number): GatewayError {
  if (status === 413) return createError(413, -32_000, "The request body exceeds 4 MiB.");
  if (status === 415) return createError(415, -32_000, "Send the body as Content-Type: application/json.");
  if (status < 500) return createError(400, -32_700, "The body is not valid JSON.");
  return createError(500, -32_603, INTERNAL_ERROR);
}

export function rateLimited({
  message,
  retryAfterSeconds: seconds,
}: Pick<RateLimited, "message" | "retryAfterSeconds">): GatewayError {
  const error = createError(429, -32_029, message, { "retry-after": String(seconds) });
  error.body.error.data = { retry_after_seconds: seconds };
  return error;
}
