import { TRPCError } from "@trpc/server";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ZodError } from "zod";
import { translateDatabaseOutage } from "../../domain/shared/database-outage.ts";
import {
  type ErrorCode,
  InsufficientScope,
  INTERNAL_ERROR,
  RateLimited,
  ServiceError,
} from "../../domain/shared/errors.ts";
import { formatValidationIssues, isZodError } from "../../routers/core/format-validation-issues.ts";
import { challengeError, formatChallenge, scopeChallenge } from "../auth/bearer-challenge.ts";
import type { Operation } from "./operations.ts";
import { BODY_LIMIT } from "./request-body.ts";

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

export const UNKNOWN_ENDPOINT = "Unknown endpoint. GET /v1/openapi.json lists all endpoints.";
const WRONG_CONTENT_TYPE = "Send the body as Content-Type: application/json.";

/** Errors that Fastify throws before a procedure is called, by status. */
const REQUEST_ERRORS: Record<number, string> = {
  413: `The request body exceeds ${BODY_LIMIT / 1024} KiB.`,
  415: WRONG_CONTENT_TYPE,
};

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
export function sendProcedureError(error: unknown, { procedure, path }: Operation, reply: FastifyReply): FastifyReply {
  const cause = error instanceof TRPCError ? error.cause : error;
  if (cause instanceof ServiceError && STATUS_BY_CODE[cause.code] < 500) return sendServiceError(cause, reply);
  if (isZodError(cause) && error instanceof TRPCError && error.code === "BAD_REQUEST")
    return sendInvalidInput(cause, path, reply);
  reply.log.error({ err: cause ?? error, procedure }, "a procedure failed");
  return cause instanceof ServiceError ? sendServiceError(cause, reply) : sendError(reply, 500, INTERNAL_ERROR);
}

export function sendWrongContentType(reply: FastifyReply): FastifyReply {
  return sendError(reply, 415, WRONG_CONTENT_TYPE);
}

function sendServiceError(error: ServiceError, reply: FastifyReply): FastifyReply {
  if (error instanceof RateLimited) void reply.header("retry-after", String(error.retryAfterSeconds));
  if (error.code === "unavailable") void reply.header("retry-after", "1");
  if (error.code === "unauthenticated")
    void reply.header("www-authenticate", formatChallenge(challengeError(reply.request.headers.authorization)));
  if (error instanceof InsufficientScope) void reply.header("www-authenticate", formatChallenge(scopeChallenge(error)));
  return sendError(reply, STATUS_BY_CODE[error.code], error.message);
}

function sendInvalidInput(error: ZodError, path: string, reply: FastifyReply): FastifyReply {
  const isInPath = error.issues.every((issue) => path.includes(`{${String(issue.path[0])}}`));
  // A malformed id gets the same response as an unknown id.
  if (isInPath) return sendError(reply, 404, path.startsWith("/v1/tokens") ? "Token not found" : "App not found");
  return sendError(reply, 400, formatValidationIssues(error) ?? "The request is invalid.");
}

function sendError(reply: FastifyReply, status: number, error: string): FastifyReply {
  return reply.code(status).send({ error });
}
