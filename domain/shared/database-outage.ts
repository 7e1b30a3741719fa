import { ServiceError } from "./errors.ts";

/** The `code` of an error that a connection pool throws when it cannot make a connection. */
export const NO_CONNECTION = "DATABASE_NO_CONNECTION";

/** The server ends a session because it stops, it crashed, or it has not finished its start (SQLSTATE class 57). */
const SHUTDOWN_CODES = new Set(["57P01", "57P02", "57P03"]);
/** The message of the error, which has no code, that `pg` throws for statements on a lost connection. */
const CONNECTION_LOST = "Connection terminated unexpectedly";

const MESSAGE =
  "The service's database is temporarily unavailable. Try again in a few seconds. A request that changes something may have taken effect: check before you repeat it.";

/**
 * Replaces an error that only says that the database is unreachable with one that the caller can act on.
 *
 * @returns a ServiceError `unavailable`, or `error` itself when it has another reason
 */
export function translateDatabaseOutage(error: unknown): unknown {
  return isDatabaseOutage(error) ? new ServiceError("unavailable", MESSAGE, { cause: error }) : error;
}

function isDatabaseOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, message } = error as Error & { code?: unknown };
  return code === NO_CONNECTION || SHUTDOWN_CODES.has(String(code)) || message === CONNECTION_LOST;
}
