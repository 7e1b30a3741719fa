import type { Db } from "../database-types.ts";
import type { Caller } from "../shared/caller.ts";
import { isUuid } from "../shared/ids.ts";
import { type SessionRow, type SessionView, sessionNotFound, toSessionView } from "./session-view.ts";

export interface ReadSessionsDeps {
  db: Db;
}

/** @throws {ServiceError} `not_found` when the organization has no such session */
export async function getSession({ db }: ReadSessionsDeps, caller: Caller, id: string): Promise<SessionView> {
  return toSessionView(checkFound(await selectSession(db, caller, id).executeTakeFirst()));
}

/**
 * Finds a session and makes other changes of it wait until the transaction of `tx` ends.
 *
 * @throws {ServiceError} `not_found` when the organization has no such session
 */
export async function lockSession(tx: Db, caller: Caller, id: string): Promise<SessionRow> {
  return checkFound(await selectSession(tx, caller, id).forUpdate().executeTakeFirst());
}

function selectSession(db: Db, { orgId }: Caller, id: string) {
  // A malformed id gets the same response as an unknown one.
  if (!isUuid(id)) throw sessionNotFound();
  return db.selectFrom("sessions").selectAll().where("id", "=", id).where("org_id", "=", orgId);
}

function checkFound(row: SessionRow | undefined): SessionRow {
  if (row === undefined) throw sessionNotFound();
  return row;
}
