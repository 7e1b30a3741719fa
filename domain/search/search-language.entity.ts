import { defineEntity, p } from "@mikro-orm/core";
import type { Language } from "./languages.ts";

/** How many texts of a language a set of postings has. A language without texts has no row. */
export const SearchLanguageSchema = defineEntity({
  name: "SearchLanguage",
  tableName: "search_languages",
  properties: {
    /** Identifies a set of postings of a scope, as `postingsIdOf` returns it. */
    postingsId: p.integer().primary(),
    language: p.string().$type<Language>().primary(),
    textCount: p.integer(),
    /** The sum of the words of the texts. */
    totalLength: p.bigint("string"),
  },
});

export class SearchLanguage extends SearchLanguageSchema.class {}
SearchLanguageSchema.setClass(SearchLanguage);
