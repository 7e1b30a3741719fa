import { readFileSync } from "node:fs";
import { constants, DatabaseSync } from "node:sqlite";
import type { DatabaseProblem, DatabaseRequest } from "./database-request.ts";
import { describeDatabase } from "./describe-database.ts";
import { runQuery } from "./run-query.ts";

const MEBIBYTE = 1024 * 1024;
const HEAP_BYTES = 256 * MEBIBYTE;

/** A larger value can be stored, but not read. */
const OPTIONS = { defensive: true, allowExtension: false, limits: { attach: 0, length: 128 * MEBIBYTE } } as const;

/** What SQLite asks for statements that only read. `PRAGMA` is decided by its name. */
const READING_ACTIONS = new Set<number>([
  constants.SQLITE_SELECT,
  constants.SQLITE_READ,
  constants.SQLITE_FUNCTION,
  constants.SQLITE_RECURSIVE,
]);
/** With an argument that names a table or an index. */
const DESCRIBING_PRAGMAS =
  /^(?:table_info|table_xinfo|table_list|index_list|index_info|index_xinfo|foreign_key_list|foreign_key_check|integrity_check|quick_check)$/i;
/** Without an argument, which would be a new value. */
const READABLE_PRAGMAS =
  /^(?:database_list|collation_list|function_list|module_list|pragma_list|compile_options|user_version|application_id|schema_version|data_version|page_count|page_size|freelist_count|encoding)$/i;

/** https://www.sqlite.org/rescode.html */
const PROBLEMS: Readonly<Record<number, DatabaseProblem>> = {
  7: { reason: "memory" },
  8: { reason: "write" },
  11: { reason: "damaged" },
  23: { reason: "write" },
  26: { reason: "damaged" },
};

function openCopy(file: string): DatabaseSync {
  // Completes what the app had not finished when the file was copied. Only the copy changes.
  const recovered = new DatabaseSync(file, OPTIONS);
  recovered.prepare("select count(*) from sqlite_schema").get();
  recovered.close();
  const database = new DatabaseSync(file, { ...OPTIONS, readOnly: true });
  database.exec(`pragma query_only = on; pragma trusted_schema = off; pragma hard_heap_limit = ${HEAP_BYTES}`);
  database.setAuthorizer((action, name, argument) => {
    if (READING_ACTIONS.has(action)) return constants.SQLITE_OK;
    if (action !== constants.SQLITE_PRAGMA || name === null) return constants.SQLITE_DENY;
    const reads = DESCRIBING_PRAGMAS.test(name) || (argument === null && READABLE_PRAGMAS.test(name));
    return reads ? constants.SQLITE_OK : constants.SQLITE_DENY;
  });
  return database;
}

function toProblem(error: unknown): DatabaseProblem {
  const { errcode, message } = error as { errcode?: unknown; message: string };
  if (typeof errcode !== "number") throw error;
  // The lowest byte of an extended code is the primary one.
  return PROBLEMS[errcode & 0xff] ?? { sqlite: message };
}

function respond(file: string, request: DatabaseRequest): object {
  try {
    const database = openCopy(file);
    return request.kind === "describe" ? describeDatabase(database, request.limits) : runQuery(database, request);
  } catch (error) {
    return { problem: toProblem(error) };
  }
}

const [copy = "", requestFile = ""] = process.argv.slice(2);
const request = JSON.parse(readFileSync(requestFile, "utf8")) as DatabaseRequest;
process.stdout.write(JSON.stringify(respond(copy, request)));
