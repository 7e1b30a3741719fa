import { RateLimited, type ServiceError } from "../../domain/shared/errors.ts";

/** The body of an answer that ends a call before the protocol is reached. */
export interface RpcError {
  jsonrpc: "2.0";
  id: null;
  error: { code: number; message: string; data?: object };
}

export interface GatewayError {
  status: number;
  headers: Record<string, string>;
  body: RpcError;
}

function refusal(status: number, code: number, message: string, headers: Record<string, string> = {}): GatewayError {
  return { status, headers, body: { jsonrpc: "2.0", id: null, error: { code, message } } };
}

const UNAUTHENTICATED =
  "Missing or invalid token. Send a personal access token as Authorization: Bearer svp_…; on a self-hosted service the first one is in bootstrap.json of its data folder, and npm run admin -- create-token makes more.";

/**
 * Tells clients that can sign in where to learn how (RFC 9728, section 5.1), and what to ask for: without
 * `offline_access` earlier clients would have to send the person to the consent page every quarter of an hour.
 */
export const unauthenticated = (publicUrl: string): GatewayError =>
  refusal(401, -32_001, UNAUTHENTICATED, {
    "www-authenticate": `Bearer resource_metadata="${publicUrl}/.well-known/oauth-protected-resource/mcp", scope="everything offline_access"`,
  });

export const forbidden = ({ message }: ServiceError): GatewayError => refusal(403, -32_003, message);

export const unavailable = ({ message }: ServiceError): GatewayError =>
  refusal(503, -32_000, message, { "retry-after": "1" });

export const wrongMethod = (): GatewayError => refusal(405, -32_000, "The gateway takes POST only.", { allow: "POST" });

export const foreignOrigin = (): GatewayError =>
  refusal(403, -32_000, "The Origin or Host of this request is not allowed.");

/** What the body parser refuses, by its HTTP status. */
export function unreadable(status: number): GatewayError {
  if (status === 413) return refusal(413, -32_000, "The body may have 4 MiB at most.");
  if (status === 415) return refusal(415, -32_000, "Send the body as Content-Type: application/json.");
  if (status < 500) return refusal(400, -32_700, "The body is not JSON.");
  return refusal(
    500,
    -32_603,
    "The service failed to answer. Try again; if it persists, tell the operator the X-Request-Id.",
  );
}

export function rateLimited(cause: ServiceError): GatewayError {
  const seconds = cause instanceof RateLimited ? cause.retryAfterSeconds : 1;
  const answer = refusal(429, -32_029, cause.message, { "retry-after": String(seconds) });
  answer.body.error.data = { retry_after_seconds: seconds };
  return answer;
}
