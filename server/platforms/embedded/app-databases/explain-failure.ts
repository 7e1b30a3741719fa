import pg from "pg";
import { ServiceError } from "../../../../domain/shared/errors.ts";
import { toPlainText } from "./reports.ts";

export const READS_ONLY =
  "sql: only statements that read are permitted: SELECT, VALUES, TABLE, WITH, EXPLAIN and SHOW.";

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const [READ_ONLY, CANCELED, TOO_MANY_CONNECTIONS, NO_MEMORY] = ["25006", "57014", "53300", "53200"];
const SEVERAL = "cannot insert multiple commands into a prepared statement";
/** Of errors that a statement causes. */
const STATEMENT_CLASSES = /^(?:0A|20|21|22|23|24|25|26|2B|2F|34|38|39|3B|3D|3F|40|42|44|53|54|55|57014|58|72|P0|XX)/;

/**
 * Says why a database could not be read, for the caller. Returns what is an internal error as it is.
 *
 * @param endedBy - the limit that has ended the connection
 */
export function explainFailure(error: unknown, endedBy: "time" | "size" | null, statementMs: number): unknown {
  if (error instanceof ServiceError) return error;
  const advice = "Read fewer columns, or parts of large values.";
  if (endedBy === "size") return new ServiceError("invalid", `sql: the result is too large. ${advice}`);
  const tooLong = `sql: the statement took longer than ${statementMs / 1000} s and was stopped.`;
  if (endedBy === "time") return new ServiceError("invalid", tooLong);
  if (!(error instanceof pg.DatabaseError)) return error;
  const { code = "", message } = error;
  if (code === CANCELED) return new ServiceError("invalid", tooLong);
  if (code === READ_ONLY) return new ServiceError("invalid", READS_ONLY);
  if (code === TOO_MANY_CONNECTIONS)
    return new ServiceError("unavailable", "The database has no free connection. Try again in a few seconds.");
  if (code === NO_MEMORY) return new ServiceError("invalid", `sql: the statement needs too much memory. ${advice}`);
  if (message === SEVERAL) return new ServiceError("invalid", "sql: has more than one statement. Send one statement.");
  if (!STATEMENT_CLASSES.test(code)) return error;
  return new ServiceError("invalid", `sql: PostgreSQL: ${toPlainText(message)}`);
}
