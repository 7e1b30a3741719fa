import { defineEntity, p } from "@mikro-orm/core";

/** The embedding of a text in a scope, which a search by meaning compares with that of the query. */
export const SearchVectorSchema = defineEntity({
  name: "SearchVector",
  tableName: "search_vectors",
  properties: {
    scopeId: p.integer().primary(),
    indexId: p.integer().primary(),
    /** As in the postings of the text: 0 to 7. */
    category: p.smallint(),
    /** One bit for each dimension, as `signsOf` returns them: 1 for a positive number. */
    signs: p.string().columnType("varbit"),
    /** Numbers of 4 bytes, as `encodeVector` writes them. */
    vector: p.blob(),
  },
});

export class SearchVector extends SearchVectorSchema.class {}
SearchVectorSchema.setClass(SearchVector);
