import type { Explanation } from "./explanation.ts";

const NO_TEXTS = "Equivalent but slower: without texts, the statements change nothing.";
const NO_ROWS = "Equivalent but slower: the statement then has no row to change.";
const TYPE_ONLY = "Equivalent: only the types of the query builder depend on it.";

const DEFINED = "Equivalent: the value is never undefined; only its type says so.";
const FAST_PATH = "Equivalent but slower: the other branch has the same result.";

export const DOMAIN_SEARCH: Record<string, Explanation[]> = {
  "domain/search/analyzer.ts": [
    { original: "words[index]?.position", reason: DEFINED },
    { original: "analyzers.set(language, loading);", reason: "Equivalent but slower: the rules are loaded again." },
    { original: "[]", reason: "Equivalent: no word has spaces." },
  ],
  "domain/search/best-hits.ts": [
    { original: "child > 0", replacement: "child >= 0", reason: "Equivalent: the root has no parent to compare with." },
    { original: "first === undefined || second === undefined", reason: DEFINED },
    { original: "first === undefined", reason: DEFINED },
    { original: "second === undefined", reason: DEFINED },
    { original: "b === undefined", replacement: "false", reason: DEFINED },
    {
      original: "a.indexId > b.indexId",
      replacement: "a.indexId >= b.indexId",
      reason: "Equivalent: no two hits have the same index id.",
    },
  ],
  "domain/search/edit-distance.ts": [
    { original: "max + 1", replacement: "max - 1", reason: "Never used: the last row has a number for each letter." },
    { original: "Math.abs(a.length - b.length) > max", replacement: "false", reason: FAST_PATH },
    { original: "[]", reason: "Equivalent: the row before the first one is never read." },
    { original: "Math.min(...current) > max", replacement: "false", reason: FAST_PATH },
  ],
  "domain/search/fold-diacritics.ts": [
    { original: "ASCII.test(word)", replacement: "false", reason: FAST_PATH },
    { original: String.raw`/^[\u0000-\u007f]*$/`, reason: FAST_PATH },
  ],
  "domain/search/fuse-hits.ts": [
    { original: "[]", reason: DEFINED },
    { original: "fused[0]?.score", reason: "Equivalent: there is at least one hit by meaning." },
    { original: "hit === undefined", replacement: "false", reason: DEFINED },
  ],
  "domain/search/indexed-text.ts": [
    { original: "[]", reason: "Equivalent: a text without `words` is no further text." },
  ],
  "domain/search/query-words.ts": [
    {
      original: '" "',
      reason: "Not caught: differs only for a word whose terms together are the term of another word.",
    },
    { original: "[]", reason: "Equivalent: only numbers are looked up." },
  ],
  "domain/search/ranking.ts": [
    {
      original: "counts < COUNTS",
      replacement: "counts <= COUNTS",
      reason: "Equivalent: the next length overwrites the further score.",
    },
  ],
  "domain/search/score-postings.ts": [
    {
      original: "offset < BLOCK_SIZE",
      replacement: "offset <= BLOCK_SIZE",
      reason: "Equivalent: no text has this offset.",
    },
    { original: "only !== undefined && others.length === 0", replacement: "false", reason: FAST_PATH },
    {
      original: "only !== undefined",
      replacement: "true",
      reason: "Equivalent: a word of a block has at least one match there.",
    },
    { original: "only !== undefined", replacement: "only === undefined", reason: FAST_PATH },
    {
      original: "at < data.length",
      replacement: "at <= data.length",
      reason: "Equivalent: a posting without data counts no occurrence.",
    },
    {
      original: "score > (best[offset] ?? 0)",
      replacement: "score >= (best[offset] ?? 0)",
      reason: "Equivalent: it replaces a score with an equal one.",
    },
  ],
  "domain/search/rank-by-proximity.ts": [
    {
      original: "index === undefined",
      replacement: "false",
      reason: "Equivalent: other words are the pair of no word.",
    },
    { original: "[]", reason: "Equivalent: other words are the pair of no word." },
    {
      original: "hit.score * (1 + PROXIMITY_WEIGHT) < (ranked[limit - 1]?.score ?? 0)",
      reason: "Equivalent but slower: further hits are analyzed, which cannot be among the best.",
    },
    {
      original: "ranked[limit - 1]?.score ?? 0",
      reason: "Equivalent but slower: further hits are analyzed, which cannot be among the best.",
    },
    {
      original: "limit - 1",
      reason: "Equivalent but slower: further hits are analyzed, which cannot be among the best.",
    },
  ],
  "domain/search/expand-prefixes.ts": [
    "all.filter((prefix) => !all.some((other) => other !== prefix && prefix.startsWith(other)))",
    "all.some((other) => other !== prefix && prefix.startsWith(other))",
    "(other) => other !== prefix && prefix.startsWith(other)",
    "other !== prefix && prefix.startsWith(other)",
    "prefix.startsWith(other)",
  ].map((original) => ({
    original,
    reason: "Equivalent but slower: the terms with a longer prefix are read twice.",
  })),
  "domain/search/find-similar.ts": [
    { original: '""', reason: "Never used: the words have at least four letters." },
    { original: "[]", reason: "Equivalent: a term that is not similar is left out." },
    { original: "terms.length <= MAX_TERMS", reason: "Equivalent but slower: few terms are sorted, too." },
    {
      original:
        '[ eb.between(eb.fn<number>("length", ["row.term"]), length - maxDistance, length + maxDistance), eb(eb.fn<number>("length", [otherLetters]), "<=", maxDistance),…',
      reason: "Equivalent but slower: more terms are compared.",
    },
  ],
  "domain/search/split-words.ts": [
    { original: "PLAIN_WORD.test(chunk)", replacement: "false", reason: FAST_PATH },
    { original: String.raw`/^\p{L}?[\p{Ll}\p{Lo}\p{M}]+$|^\p{N}+$|^\p{L}$/u`, reason: FAST_PATH },
    { original: "word.length <= MAX_WORD_LENGTH", replacement: "false", reason: FAST_PATH },
    { original: "word.length <= MAX_WORD_LENGTH", replacement: "word.length < MAX_WORD_LENGTH", reason: FAST_PATH },
  ],
  "domain/search/match-words.ts": [
    { original: "[]", reason: "Equivalent: the text in the list has no `term`, so it finds no postings." },
  ],
  "domain/search/read-postings.ts": [
    { original: "terms.length === 0", replacement: "false", reason: "Equivalent but slower: no terms find no rows." },
  ],
  "domain/search/embed-scopes.ts": [
    {
      original: "readTexts === undefined",
      replacement: "false",
      reason: "Equivalent: only scopes of the kinds that have a reader are selected.",
    },
    { original: "[]", reason: "Equivalent: without texts, no vector is read from the list." },
    {
      original: "texts.length < BATCH",
      replacement: "false",
      reason: "Equivalent but slower: index ids without a text after the last one are passed one by one.",
    },
    { original: "texts.at(-1)?.indexId", reason: DEFINED },
    {
      original: "embedded.length === 0",
      replacement: "false",
      reason: "Equivalent but slower: the texts are read, and no vector is stored.",
    },
  ],
  "domain/search/search-by-meaning.ts": [
    {
      original: "[]",
      reason:
        "Equivalent: the categories are never undefined there, and a text instead of a vector is similar to no text.",
    },
  ],
  "domain/search/index-texts.ts": [
    { original: "texts.length === 0", replacement: "false", reason: NO_TEXTS },
    {
      original: "nextIndexId - 1",
      reason: "Equivalent: without a text, the set is complete, and its next index id is not stored.",
    },
  ],
  "domain/search/remove-vectors.ts": [
    {
      original: "model === null",
      replacement: "false",
      reason: "Equivalent but slower: a scope without a model has no vectors to remove.",
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
