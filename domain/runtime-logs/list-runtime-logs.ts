import type { Db } from "../database-types.ts";
import type { RuntimeLogs } from "../ports/runtime-logs.ts";
import type { Caller } from "../shared/caller.ts";
import { decodeNumberCursor, encodeNumberCursor } from "../shared/keyset-cursor.ts";
import { RESPONSE_CHARACTERS, takeWithinBudget } from "../shared/response-budget.ts";
import { findLoggedApp } from "./find-logged-app.ts";
import { matchesFilter, type RuntimeLogFilter, type RuntimeLogView, toRuntimeLogView } from "./runtime-log-view.ts";

export interface ReadRuntimeLogsDeps {
  db: Db;
  runtimeLogs: RuntimeLogs;
}

export interface RuntimeLogPageRequest extends RuntimeLogFilter {
  id: string;
  /** The maximum number of records; 100 without it. */
  limit?: number | undefined;
  /** The `next_cursor` of an earlier page; without it, the first page is returned. */
  cursor?: string | undefined;
}

export interface RuntimeLogPage {
  logs: RuntimeLogView[];
  /** The cursor of the next page; `null` on the last page. */
  next_cursor: string | null;
}

/** The characters of a page without its records. */
const ENVELOPE_CHARACTERS = 100;

/** Ids contain the time of a record in microseconds. */
const MAX_ID_DIGITS = 16;

/**
 * Lists what an app has printed, newest first.
 *
 * @param isForAgent - whether the page must have at most the size of a response for an agent
 * @throws {ServiceError} `not_found` when the organization has no such app; `invalid` for a cursor that this service did
 *   not return
 */
export async function listRuntimeLogs(
  { db, runtimeLogs }: ReadRuntimeLogsDeps,
  { orgId }: Caller,
  { id, limit = 100, cursor, ...filter }: RuntimeLogPageRequest,
  isForAgent = false,
): Promise<RuntimeLogPage> {
  const before = cursor === undefined ? Infinity : decodeNumberCursor(cursor, MAX_ID_DIGITS);
  const app = await findLoggedApp(db, { orgId, id });
  const matches = matchesFilter(filter);
  const records = (await runtimeLogs.read(app)).filter((record) => record.id < before && matches(record));
  const page = records.slice(-limit).toReversed();
  const views = page.map(toRuntimeLogView);
  const logs = isForAgent ? takeWithinBudget(views, RESPONSE_CHARACTERS - ENVELOPE_CHARACTERS) : views;
  const last = page[logs.length - 1];
  return {
    logs,
    next_cursor: records.length > logs.length && last !== undefined ? encodeNumberCursor(last.id) : null,
  };
}
