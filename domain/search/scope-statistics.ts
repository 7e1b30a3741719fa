import type { Db } from "../database-types.ts";
import { type Language, languagesOf } from "./languages.ts";
import { postingsIdOf } from "./index-rebuild.ts";
import type { ScopeKey } from "./search-scope.ts";

export interface ScopeStatistics {
  /** The `scope_id` of the postings that searches read. */
  id: number;
  textCount: number;
  /** In words, at least 1. */
  averageLength: number;
  /** The languages of all texts. */
  languages: Language[];
}

/** Returns `null` for a scope without texts. */
export async function readStatistics(db: Db, { orgId, kind, ownerId }: ScopeKey): Promise<ScopeStatistics | null> {
  const row = await db
    .selectFrom("search_scopes")
    .select(["id", "postings_set", "text_count", "total_length", "languages"])
    .where("org_id", "=", orgId)
    .where("kind", "=", kind)
    .where("owner_id", "=", ownerId)
    .executeTakeFirst();
  if (row === undefined || row.text_count === 0) return null;
  const averageLength = Math.max(1, Number(row.total_length) / row.text_count);
  return { id: postingsIdOf(row), textCount: row.text_count, averageLength, languages: languagesOf(row.languages) };
}
