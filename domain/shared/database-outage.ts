import { ServiceError } from "./errors.ts";

/** The `code` of the error of a connection pool that cannot make a connection, or whose connection is lost. */
export const NO_CONNECTION = "DATABASE_NO_CONNECTION";
/** The `code` of the error of a connection pool whose connections have all been in use for too long. */
export const NO_FREE_CONNECTION = "DATABASE_NO_FREE_CONNECTION";

/** The server ends a session because it stops, it crashed, or it has not finished its start (SQLSTATE class 57). */
const SHUTDOWN_CODES = new Set(["57P01", "57P02", "57P03"]);

/** The messages of errors, which have no code, that `pg` throws for statements on a lost connection. */
const LOST_MESSAGES = new Set([
  "Connection terminated",
  "Connection terminated unexpectedly",
  "Client has encountered a connection error and is not queryable",
]);

const OUTAGE =
  "The service's database is temporarily unavailable. Try again in a few seconds. A request that changes something may have taken effect: check before you repeat it.";
const BUSY = "The service's database is busy, and nothing was changed. Try again in a few seconds.";

/**
 * Replaces an error that only says that the database is unreachable or busy with one that the caller can act on.
 *
 * @returns a ServiceError `unavailable`, or `error` itself when it has another reason
 */
export function translateDatabaseOutage(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code, message } = error as Error & { code?: unknown };
  if (code === NO_FREE_CONNECTION) return new ServiceError("unavailable", BUSY, { cause: error });
  const isOutage = code === NO_CONNECTION || SHUTDOWN_CODES.has(String(code)) || LOST_MESSAGES.has(message);
  return isOutage ? new ServiceError("unavailable", OUTAGE, { cause: error }) : error;
}
