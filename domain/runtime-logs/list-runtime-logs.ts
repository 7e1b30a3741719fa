import type { Db } from "../database-types.ts";
import type { RuntimeLogs } from "../ports/runtime-logs.ts";
import type { Caller } from "../shared/caller.ts";
import { decodeNumberCursor, encodeNumberCursor } from "../shared/keyset-cursor.ts";
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

/** Ids contain the time of a record in microseconds. */
const MAX_ID_DIGITS = 16;

/**
 * Lists what an app has printed, newest first.
 *
 * @throws {ServiceError} `not_found` when the organization has no such app; `invalid` for a cursor that this service did
 *   not return
 */
export async function listRuntimeLogs(
  { db, runtimeLogs }: ReadRuntimeLogsDeps,
  { orgId }: Caller,
  { id, limit = 100, cursor, ...filter }: RuntimeLogPageRequest,
): Promise<RuntimeLogPage> {
  const before = cursor === undefined ? Infinity : decodeNumberCursor(cursor, MAX_ID_DIGITS);
  const app = await findLoggedApp(db, { orgId, id });
  const matches = matchesFilter(filter);
  const records = (await runtimeLogs.read(app)).filter((record) => record.id < before && matches(record));
  const page = records.slice(-limit).toReversed();
  const last = page.at(-1);
  return {
    logs: page.map(toRuntimeLogView),
    next_cursor: records.length > limit && last !== undefined ? encodeNumberCursor(last.id) : null,
  };
}
