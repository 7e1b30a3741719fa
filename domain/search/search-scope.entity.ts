import { defineEntity, p } from "@mikro-orm/core";
import type { Rebuild } from "./index-rebuild.ts";
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
    /** The oldest `ANALYZER_VERSION` that has changed the scope since it was built; 0 for a scope that was never built. */
    analyzerVersion: p.integer(),
    /** The model of the vectors of the scope; `null` while it has none. */
    embeddingModel: p.text().nullable(),
    /** The texts with lower index ids have been embedded. */
    embeddedIndexId: p.integer().default(0),
    /** Which of the two sets of postings searches read: 0 or 1. */
    postingsSet: p.integer().default(0),
    /** The progress of the other set, while it is built with a newer analyzer. */
    rebuild: p.json<Rebuild>().nullable(),
    /** When searches stopped reading the other set, while it still has postings. */
    retiredAt: p.datetime(3).nullable(),
  },
  uniques: [{ properties: ["orgId", "kind", "ownerId"] }],
  indexes: [{ properties: ["analyzerVersion", "id"] }, { properties: ["retiredAt"] }],
});

export class SearchScope extends SearchScopeSchema.class {}
SearchScopeSchema.setClass(SearchScope);
