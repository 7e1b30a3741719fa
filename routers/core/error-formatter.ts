import type { TRPCError } from "@trpc/server";
import { INTERNAL_ERROR, RateLimited, ServiceError } from "../../domain/shared/errors.ts";
import { InvalidInput } from "./invalid-input.ts";

/** Formats an error for typed clients. The message of an internal error is never shown. */
export function formatError<S extends { message: string; data: object }>(shape: S, { code, cause }: TRPCError) {
  if (cause instanceof ServiceError) {
    const wait = cause instanceof RateLimited ? { retryAfterSeconds: cause.retryAfterSeconds } : {};
    const issues = cause instanceof InvalidInput ? { issues: cause.issues } : {};
    return { ...shape, message: cause.message, data: { ...shape.data, errorCode: cause.code, ...wait, ...issues } };
  }
  return code === "INTERNAL_SERVER_ERROR" ? { ...shape, message: INTERNAL_ERROR } : shape;
}
