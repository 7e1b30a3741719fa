import { defineEntity, p } from "@mikro-orm/core";
import type { SearchScopeKind } from "./search-scope.ts";

/**
 * The statistics of a scope, which ranking needs. Every change of the scope's postings locks this row first, so the statistics
 * are exact.
 */
export const SearchScopeSchema = defineEntity({
  name: "SearchScope",
  tableName: "search_scopes",
  properties: {
    id: p.integer().primary().autoincrement(),
    orgId: p.uuid(),
    kind: p.string().$type<SearchScopeKind>(),
    ownerId: p.uuid(),
    nextIndexId: p.integer(),
    textCount: p.integer(),
    /** The sum of the words of all texts. */
    totalLength: p.bigint("string"),
    /** The languages of the texts that were ever added, one bit each, as `languageBits` returns them. */
    languages: p.integer(),
    /** The `ANALYZER_VERSION` of the oldest text. */
    analyzerVersion: p.integer(),
    /** The model of the vectors of the scope; `null` while it has none. */
    embeddingModel: p.text().nullable(),
    /** The texts with lower index ids have been embedded. */
    embeddedIndexId: p.integer().default(0),
  },
  uniques: [{ properties: ["orgId", "kind", "ownerId"] }],
});

export class SearchScope extends SearchScopeSchema.class {}
SearchScopeSchema.setClass(SearchScope);
