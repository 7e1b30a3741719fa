import type { Caller } from "../shared/caller.ts";
import type { Db } from "../database-types.ts";
import { selectTokens } from "./select-tokens.ts";
import { type TokenView, toTokenView } from "./token-view.ts";

export interface ListTokensDeps {
  db: Db;
}

/** Lists the tokens that a caller may manage, newest first. Expired tokens are included, revoked ones are not. */
export async function listTokens({ db }: ListTokensDeps, caller: Caller): Promise<{ tokens: TokenView[] }> {
  const rows = await selectTokens(db, caller).orderBy("created_at", "desc").orderBy("id").execute();
  return { tokens: rows.map(toTokenView) };
}
