import type { Caller } from "../shared/caller.ts";
import type { Db } from "../database-types.ts";
import { isOperator, managesSharedTokens, ownUserId, SHARED_KINDS } from "./token-permissions.ts";
import { TOKEN_COLUMNS } from "./token-view.ts";

/**
 * Selects the tokens that a caller may manage and that are not revoked: their own personal access tokens, those of the
 * organization if their role permits it, and every token of the organization for the operator.
 */
export function selectTokens(db: Db, caller: Caller) {
  const userId = ownUserId(caller);
  return db
    .selectFrom("machine_tokens")
    .select(TOKEN_COLUMNS)
    .where("org_id", "=", caller.orgId)
    .where("revoked_at", "is", null)
    .where(({ or, and, eb, lit }) =>
      or([
        ...(isOperator(caller) ? [lit(true)] : []),
        ...(managesSharedTokens(caller) ? [eb("kind", "in", SHARED_KINDS)] : []),
        ...(userId === null ? [] : [and([eb("kind", "=", "personal_access_token"), eb("user_id", "=", userId)])]),
      ]),
    );
}
