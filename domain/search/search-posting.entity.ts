import { defineEntity, p } from "@mikro-orm/core";

/** The postings of one term in one block of a scope: which of the block's texts contain the term, and how often. */
export const SearchPostingSchema = defineEntity({
  name: "SearchPosting",
  tableName: "search_postings",
  properties: {
    /** Identifies a set of postings of a scope, as `postingsIdOf` returns it. */
    scopeId: p.integer().primary(),
    /** Compared by code point, so that a range contains exactly the terms with one prefix. */
    term: p.text().collation("C").primary(),
    /** The index ids of the texts, divided by the size of a block. */
    block: p.integer().primary(),
    count: p.integer(),
    /** As `encodePosting` writes them, in the order in which the texts were added. */
    data: p.blob(),
  },
});

export class SearchPosting extends SearchPostingSchema.class {}
SearchPostingSchema.setClass(SearchPosting);
