import type { Caller } from "../shared/caller.ts";
import type { Db } from "../database-types.ts";
import { managesShared, ownPerson, SHARED_KINDS } from "./token-permissions.ts";
import { TOKEN_COLUMNS } from "./token-view.ts";

/** The tokens in force that a caller may manage: their own, and those of the organization if their role reaches so far. */
export function selectTokens(db: Db, caller: Caller) {
  const userId = ownPerson(caller);
  return db
    .selectFrom("machine_tokens")
    .select(TOKEN_COLUMNS)
    .where("org_id", "=", caller.orgId)
    .where("revoked_at", "is", null)
    .where(({ or, and, eb }) =>
      or([
        ...(managesShared(caller) ? [eb("kind", "in", SHARED_KINDS)] : []),
        ...(userId === null ? [] : [and([eb("kind", "=", "personal_access_token"), eb("user_id", "=", userId)])]),
      ]),
    );
}
