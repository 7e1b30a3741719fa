import { TRPCError } from "@trpc/server";
import type { ZodError } from "zod";
import { INTERNAL_ERROR, RateLimited, ServiceError, type ErrorCode } from "../../domain/shared/errors.ts";
import { isZodError, formatValidationIssues } from "../../routers/core/format-validation-issues.ts";

/** The HTTP status of each refusal. */
const REFUSAL_STATUS = {
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

/** What goes over the wire for an error: nothing but what a refusal says ever reaches the caller. */
export interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: { error: string };
}

export function answerTo(error: unknown, path: string | undefined): ErrorAnswer {
  const cause = error instanceof TRPCError ? error.cause : error;
  if (cause instanceof ServiceError) return answer(REFUSAL_STATUS[cause.code], cause.message, headersOf(cause));
  if (!(error instanceof TRPCError)) return fault();
  if (error.code === "BAD_REQUEST" && isZodError(cause)) return invalidInput(cause, path);
  if (error.code === "NOT_FOUND") return answer(404, "Unknown endpoint. GET /v1/openapi.json lists all endpoints.");
  if (error.code === "UNSUPPORTED_MEDIA_TYPE") return answer(415, "Send the body as Content-Type: application/json.");
  return fault();
}

function fault(): ErrorAnswer {
  return answer(500, INTERNAL_ERROR);
}

function answer(status: number, error: string, headers: Record<string, string> = {}): ErrorAnswer {
  return { status, headers, body: { error } };
}

function headersOf(refusal: ServiceError): Record<string, string> {
  if (refusal instanceof RateLimited) return { "retry-after": String(refusal.retryAfterSeconds) };
  if (refusal.code === "unavailable") return { "retry-after": "1" };
  if (refusal.code === "unauthenticated") return { "www-authenticate": "Bearer" };
  return {};
}

function invalidInput(error: ZodError, path: string | undefined): ErrorAnswer {
  const inPath = error.issues.every((issue) => path?.includes(`{${String(issue.path[0])}}`) === true);
  // A malformed id names nothing, so it is absent like any other unknown id.
  if (inPath) return answer(404, path?.startsWith("/v1/tokens") === true ? "Token not found" : "App not found");
  return answer(400, formatValidationIssues(error) ?? "The request is invalid.");
}
