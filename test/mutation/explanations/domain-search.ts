import type { Explanation } from "./explanation.ts";

const NO_TEXTS = "Equivalent but slower: without texts, the statements change nothing.";
const NO_ROWS = "Equivalent but slower: the statement then has no row to change.";
const TYPE_ONLY = "Equivalent: only the types of the query builder depend on it.";

export const DOMAIN_SEARCH: Record<string, Explanation[]> = {
  "domain/search/index-texts.ts": [
    { original: "texts.length === 0", replacement: "false", reason: NO_TEXTS },
    {
      original: "nextIndexId - 1",
      reason: "Equivalent: without a text, the set is complete, and its next index id is not stored.",
    },
  ],
  "domain/search/update-scopes.ts": [
    {
      original: "readTexts === undefined",
      replacement: "false",
      reason: "Equivalent: only scopes of the kinds that have a reader are selected.",
    },
  ],
  "domain/search/write-postings.ts": [
    { original: "added.length === 0", replacement: "false", reason: NO_ROWS },
    {
      original: "id !== undefined",
      replacement: "true",
      reason: "Equivalent: `undefined` in the result is the index id of no text.",
    },
    {
      original: "kept.length < data.length",
      reason: "Equivalent but slower: rows are also written if none of their postings was removed.",
    },
    { original: '"term"', reason: TYPE_ONLY },
    { original: '"block"', reason: TYPE_ONLY },
    { original: "{ title: 0, body: 0 }", reason: "Never used: a text has counts of each of its terms." },
    { original: "empty.length > 0", reason: NO_ROWS },
    {
      original: "changed.filter(({ data }) => data.length > 0)",
      reason: "Equivalent but slower: the rows without postings have been deleted before.",
    },
    {
      original: "data.length > 0",
      reason: "Equivalent but slower: the rows without postings have been deleted before.",
    },
    { original: "shorter.length === 0", replacement: "false", reason: NO_ROWS },
  ],
};
