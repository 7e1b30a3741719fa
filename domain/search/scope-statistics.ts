import type { Db } from "../database-types.ts";
import { postingsIdOf } from "./index-rebuild.ts";
import { type Language, prefixOf } from "./languages.ts";
import type { ScopeKey } from "./search-scope.ts";

/** What ranking needs to know about texts. */
export interface TextStatistics {
  textCount: number;
  /** In words, at least 1. */
  averageLength: number;
}

export interface ScopeStatistics extends TextStatistics {
  /** The `scope_id` of the postings that searches read. */
  id: number;
  /** The languages that texts have now, with the number of their texts; that with most texts first. */
  languages: { language: Language; textCount: number }[];
  /** The statistics of the texts whose terms have the same beginning, as `prefixOf` returns it. */
  byPrefix: ReadonlyMap<string, TextStatistics>;
}

/** Returns `null` for a scope without texts. */
export async function readStatistics(db: Db, { orgId, kind, ownerId }: ScopeKey): Promise<ScopeStatistics | null> {
  const rows = await db
    .selectFrom("search_scopes as scope")
    .leftJoin("search_languages as size", (join) =>
      join.on(({ eb, or, and, ref }) =>
        or([
          and([eb("scope.postings_set", "=", 0), eb("size.postings_id", "=", ref("scope.id"))]),
          and([eb("scope.postings_set", "=", 1), eb("size.postings_id", "=", eb.neg(ref("scope.id")))]),
        ]),
      ),
    )
    .select(["scope.id", "scope.postings_set", "scope.text_count", "scope.total_length"])
    .select(["size.language", "size.text_count as count", "size.total_length as length"])
    .where("scope.org_id", "=", orgId)
    .where("scope.kind", "=", kind)
    .where("scope.owner_id", "=", ownerId)
    .execute();
  const [scope] = rows;
  if (scope === undefined || scope.text_count === 0) return null;
  const sizes = rows.flatMap(({ language, count, length }) =>
    language === null ? [] : [{ language, textCount: count ?? 0, length: Number(length) }],
  );
  return {
    id: postingsIdOf(scope),
    ...toStatistics([{ textCount: scope.text_count, length: Number(scope.total_length) }]),
    languages: sizes.toSorted((a, b) => b.textCount - a.textCount || (a.language < b.language ? -1 : 1)),
    byPrefix: new Map(
      [...Map.groupBy(sizes, ({ language }) => prefixOf(language))].map(([prefix, of]) => [prefix, toStatistics(of)]),
    ),
  };
}

function toStatistics(sizes: readonly { textCount: number; length: number }[]): TextStatistics {
  const textCount = sizes.reduce((sum, size) => sum + size.textCount, 0);
  const length = sizes.reduce((sum, size) => sum + size.length, 0);
  return { textCount, averageLength: Math.max(1, length / Math.max(1, textCount)) };
}
