import { TRPCError } from "@trpc/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import { translateDatabaseOutage } from "../../domain/shared/database-outage.ts";
import {
  type ErrorCode,
  InsufficientScope,
  INTERNAL_ERROR,
  retryAfterSeconds,
  ServiceError,
} from "../../domain/shared/errors.ts";
import { challengeError, formatChallenge, scopeChallenge } from "../auth/bearer-challenge.ts";
import type { Operation } from "./operations.ts";
import { BODY_ERRORS, UnreadableBody } from "./request-body.ts";

const STATUS_BY_CODE = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  plan_limit: 403,
  not_found: 404,
  conflict: 409,
  key_reused: 422,
  rate_limited: 429,
  teardown_pending: 500,
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>;

/** Errors that Fastify throws before a procedure is called, by status. */
const REQUEST_ERRORS: Record<number, string> = {
  413: "The request body is too large.",
  415: BODY_ERRORS[415],
};

export const UNKNOWN_ENDPOINT = "Unknown endpoint. GET /v1/openapi.json lists all endpoints.";

/** Responds to an error that ended a request before a procedure was called. Only internal errors are logged as errors. */
export function sendRequestError(
  thrown: Error & { statusCode?: number },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const error = translateDatabaseOutage(thrown) as typeof thrown;
  if (error instanceof ServiceError) return sendServiceError(error, reply);
  const status = error.statusCode ?? 500;
  if (status < 500) return sendError(reply, status, REQUEST_ERRORS[status] ?? "The request is malformed.");
  request.log.error({ err: error }, "a request failed");
  return sendError(reply, 500, INTERNAL_ERROR);
}

/** Responds to an error of a procedure. The text of an internal error is only in the log. */
export function sendProcedureError(error: unknown, { procedure }: Operation, reply: FastifyReply): FastifyReply {
  const cause = error instanceof TRPCError ? error.cause : error;
  if (cause instanceof ServiceError && STATUS_BY_CODE[cause.code] < 500) return sendServiceError(cause, reply);
  if (reply.raw.destroyed && cause instanceof Error && cause.name === "AbortError")
    reply.log.info({ procedure }, "a procedure ended because its client went away");
  else reply.log.error({ err: cause ?? error, procedure }, "a procedure failed");
  return cause instanceof ServiceError ? sendServiceError(cause, reply) : sendError(reply, 500, INTERNAL_ERROR);
}

export function sendMethodNotAllowed(reply: FastifyReply, allowed: readonly string[]): FastifyReply {
  const methods = allowed.join(", ");
  return sendError(reply.header("allow", methods), 405, `Method not allowed. This endpoint has: ${methods}.`);
}

function sendServiceError(error: ServiceError, reply: FastifyReply): FastifyReply {
  const wait = retryAfterSeconds(error);
  if (wait !== null) void reply.header("retry-after", String(wait));
  if (error.code === "unauthenticated")
    void reply.header("www-authenticate", formatChallenge(challengeError(reply.request.headers.authorization)));
  if (error instanceof InsufficientScope) void reply.header("www-authenticate", formatChallenge(scopeChallenge(error)));
  const status = error instanceof UnreadableBody ? error.status : STATUS_BY_CODE[error.code];
  return sendError(reply, status, error.message);
}

function sendError(reply: FastifyReply, status: number, error: string): FastifyReply {
  return reply.code(status).send({ error });
}
