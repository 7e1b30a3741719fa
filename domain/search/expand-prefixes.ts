import type { Db } from "../database-types.ts";
import type { QueryWord } from "./query-words.ts";

/** A term of the index that is similar to a word of a query. */
export interface SimilarTerm {
  term: string;
  /** 1 for an equal term. */
  weight: number;
}

/** How many rows of the index are read for the beginning of a word: about 5 ms. */
const MAX_ROWS = 20_000;
/** How many similar terms are searched for instead of a word. */
const MAX_TERMS = 24;
const PREFIX_WEIGHT = 0.5;
/** The words that are completed: each of them reads a range of the index. */
const MAX_WORDS = 12;
/** The highest code point, which comes after every letter. */
const LAST = "\u{10ffff}";

/** Finds the terms that begin with a word. A stop word, or a word of one or two ASCII characters, must be the only one. */
export async function findPrefixed(
  db: Db,
  scopeId: number,
  words: readonly QueryWord[],
  languagePrefix: string,
): Promise<Map<QueryWord, SimilarTerm[]>> {
  const prefixesOf = ({ text, terms }: QueryWord): string[] => selectShortest([`${languagePrefix}${text}`, ...terms]);
  const found = new Map<QueryWord, SimilarTerm[]>();
  const completed = words
    .filter(({ text, isStopWord }) => words.length === 1 || !(isStopWord || /^[a-z0-9]{1,2}$/.test(text)))
    .slice(0, MAX_WORDS);
  const termsByPrefix = await readTerms(db, scopeId, completed.flatMap(prefixesOf));
  for (const word of completed) {
    const terms = new Map<string, number>();
    for (const prefix of prefixesOf(word))
      for (const { term, count } of termsByPrefix.get(prefix) ?? [])
        if (!word.terms.includes(term)) terms.set(term, count);
    const best = [...terms].toSorted(([, a], [, b]) => b - a).slice(0, MAX_TERMS);
    found.set(
      word,
      best.map(([term]) => ({
        term,
        weight: PREFIX_WEIGHT * Math.min(1, word.text.length / (term.length - languagePrefix.length)),
      })),
    );
  }
  return found;
}

/** The terms that begin with `invoices` are among those that begin with `invoic`. */
function selectShortest(prefixes: readonly string[]): string[] {
  const all = [...new Set(prefixes)];
  return all.filter((prefix) => !all.some((other) => other !== prefix && prefix.startsWith(other)));
}

/** Reads the terms with each prefix in one statement, and how many texts contain them, up to a number of rows of each. */
async function readTerms(
  db: Db,
  scopeId: number,
  prefixes: readonly string[],
): Promise<Map<string, { term: string; count: number }[]>> {
  const [first, ...others] = [...new Set(prefixes)].map((prefix) => selectTerms(db, scopeId, prefix));
  if (first === undefined) return new Map();
  const rows = await others.reduce((all, query) => all.unionAll(query), first).execute();
  const terms = rows.map(({ prefix, term, count }) => ({ prefix, term, count: Number(count) }));
  return Map.groupBy(terms, ({ prefix }) => prefix);
}

function selectTerms(db: Db, scopeId: number, prefix: string) {
  return db
    .selectFrom(selectTermsWithPrefix(db, scopeId, prefix).select("count").as("row"))
    .select(({ fn, val, cast }) => [
      cast<string>(val(prefix), "text").as("prefix"),
      "term",
      fn.sum<string>("count").as("count"),
    ])
    .groupBy("term");
}

/** Selects the terms that begin with a prefix, up to a number of rows: one for each block of a term. */
export function selectTermsWithPrefix(db: Db, scopeId: number, prefix: string, maxRows = MAX_ROWS) {
  return db
    .selectFrom("search_postings")
    .select("term")
    .where("scope_id", "=", scopeId)
    .where("term", ">=", prefix)
    .where("term", "<", `${prefix}${LAST}`)
    .orderBy("term")
    .limit(Math.min(maxRows, MAX_ROWS));
}
