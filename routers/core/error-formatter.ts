import type { TRPCError } from "@trpc/server";
import { RateLimited, ServiceError } from "../../domain/shared/errors.ts";

const INTERNAL_ERROR = "The service failed to answer. Try again; if it persists, tell the operator the X-Request-Id.";

/** What typed clients are told of an error. A fault never shows its text; what a refusal says is for its reader. */
export function formatError<S extends { message: string; data: object }>(shape: S, { code, cause }: TRPCError) {
  if (cause instanceof ServiceError) {
    const wait = cause instanceof RateLimited ? { retryAfterSeconds: cause.retryAfterSeconds } : {};
    return { ...shape, message: cause.message, data: { ...shape.data, refusal: cause.code, ...wait } };
  }
  return code === "INTERNAL_SERVER_ERROR" ? { ...shape, message: INTERNAL_ERROR } : shape;
}
