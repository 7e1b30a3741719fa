import type { Caller } from "../shared/caller.ts";
import type { Db } from "../database-types.ts";
import { selectTokens } from "./select-tokens.ts";
import { type TokenView, tokenView } from "./token-view.ts";

export interface ListTokensDeps {
  db: Db;
}

/** The tokens that a caller may manage, newest first; those that ran out are among them until they are revoked. */
export async function listTokens({ db }: ListTokensDeps, caller: Caller): Promise<{ tokens: TokenView[] }> {
  const rows = await selectTokens(db, caller).orderBy("created_at", "desc").orderBy("id").execute();
  return { tokens: rows.map(tokenView) };
}
