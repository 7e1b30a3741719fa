import type { Expression, ExpressionBuilder, SqlBool } from "kysely";
import type { Db } from "../database-types.ts";
import { editDistance } from "./edit-distance.ts";
import { selectTermsWithPrefix, type SimilarTerm } from "./expand-prefixes.ts";
import { prefixOfTerm } from "./languages.ts";
import type { QueryWord } from "./query-words.ts";
import { readCounts } from "./read-postings.ts";
import type { ScopeStatistics } from "./scope-statistics.ts";

/** How many similar terms are searched for instead of a word. */
const MAX_TERMS = 24;
const TYPO_WEIGHT = 0.5;
/** The words that are corrected: each of them reads ranges of the index. */
const MAX_WORDS = 12;
const MIN_TYPO_LENGTH = 4;
const LETTERS_OF_BEGINNING = 3;
/** The shortest words with two typing errors. */
const MIN_LENGTH_OF_TWO_ERRORS = 8;
/** How many rows of the index all words together read, and how many terms are compared with all words. */
const MAX_ROWS = 60_000;
const MAX_CANDIDATES = 4000;
/** In a scope of more texts, the terms with one first letter are too many to read all. */
const MAX_TEXTS_OF_SMALL_SCOPE = 16_384;

/**
 * Finds the terms that differ from a word in few letters. The first letter must be right, or swapped with the second one. In a
 * large scope, the second letter must be right too.
 */
export async function findSimilar(
  db: Db,
  scope: ScopeStatistics,
  words: readonly QueryWord[],
  languagePrefix: string,
): Promise<Map<QueryWord, SimilarTerm[]>> {
  const corrected = words
    .filter(({ text, isStopWord }) => !isStopWord && text.length >= MIN_TYPO_LENGTH)
    .slice(0, MAX_WORDS);
  const candidates = await readCandidates(db, scope, corrected, languagePrefix);
  const similar = new Map<QueryWord, SimilarTerm[]>();
  for (const word of corrected) {
    const terms = (candidates.get(word.text) ?? []).flatMap((term) => compareTerm(word, term) ?? []);
    if (terms.length > 0) similar.set(word, await selectBest(db, scope, terms));
  }
  return similar;
}

function compareTerm(word: QueryWord, term: string): SimilarTerm | null {
  const maxDistance = maxDistanceOf(word);
  const distance = Math.min(
    ...spellingsOf(word).map((spelling) => editDistance(spelling, withoutPrefix(term), maxDistance)),
  );
  return distance > maxDistance ? null : { term, weight: TYPO_WEIGHT / Math.max(1, distance) };
}

/** Of equally similar terms, those in most texts. */
async function selectBest(db: Db, scope: ScopeStatistics, terms: readonly SimilarTerm[]): Promise<SimilarTerm[]> {
  if (terms.length <= MAX_TERMS) return [...terms];
  const all = terms.map(({ term }) => term);
  const counts = await readCounts(db, scope.id, all);
  const countOf = ({ term }: SimilarTerm): number => counts.get(term) ?? 0;
  return terms.toSorted((a, b) => b.weight - a.weight || countOf(b) - countOf(a)).slice(0, MAX_TERMS);
}

/** As the caller wrote it, and as the languages reduce it. */
function spellingsOf({ text, terms }: QueryWord): string[] {
  return [...new Set([text, ...terms.map(withoutPrefix)])];
}

function withoutPrefix(term: string): string {
  return term.slice(prefixOfTerm(term).length);
}

function maxDistanceOf({ text }: QueryWord): number {
  return text.length < MIN_LENGTH_OF_TWO_ERRORS ? 1 : 2;
}

function beginningsOf({ text }: QueryWord, { textCount }: ScopeStatistics): string[] {
  const [first = "", second = ""] = Array.from(text);
  return [...new Set([textCount > MAX_TEXTS_OF_SMALL_SCOPE ? first + second : first, second + first])];
}

/** Reads terms that may be similar to words, in one statement. Returns them by the text of the word. */
async function readCandidates(
  db: Db,
  scope: ScopeStatistics,
  words: readonly QueryWord[],
  languagePrefix: string,
): Promise<Map<string, string[]>> {
  const ranges = words.flatMap((word) =>
    beginningsOf(word, scope).map((beginning) => ({ word, languagePrefix, prefix: `${languagePrefix}${beginning}` })),
  );
  const [first, ...others] = ranges.map((range) => selectCandidates(db, scope, range, ranges.length));
  if (first === undefined) return new Map();
  const rows = await others.reduce((all, query) => all.union(query), first).execute();
  const byWord = Map.groupBy(rows, ({ word }) => word);
  return new Map([...byWord].map(([word, ofWord]) => [word, ofWord.map(({ term }) => term)]));
}

/** Of too many candidates, those with the first letters of the word come first, as most errors are in later letters. */
function selectCandidates(
  db: Db,
  { id }: ScopeStatistics,
  { word, languagePrefix, prefix }: { word: QueryWord; languagePrefix: string; prefix: string },
  ranges: number,
) {
  const beginning = languagePrefix + Array.from(word.text).slice(0, LETTERS_OF_BEGINNING).join("");
  const candidates = db
    .selectFrom(selectTermsWithPrefix(db, id, prefix, Math.floor(MAX_ROWS / ranges)).as("row"))
    .select(({ val, cast }) => [cast<string>(val(word.text), "text").as("word"), "term"])
    .where((eb) =>
      eb.or(spellingsOf(word).map((spelling) => couldBe(eb, languagePrefix + spelling, maxDistanceOf(word)))),
    )
    .distinctOn("term")
    .orderBy("term");
  const best = db
    .selectFrom(candidates.as("candidate"))
    .select(["word", "term"])
    .orderBy(({ fn, val }) => fn<boolean>("starts_with", ["term", val(beginning)]), "desc")
    .orderBy("term")
    .limit(Math.floor(MAX_CANDIDATES / ranges));
  return db.selectFrom(best.as("best")).select(["word", "term"]);
}

/**
 * A similar term differs in length by at most the number of errors, and has at most so many letters that the word does not have.
 * PostgreSQL checks it quickly, so that few terms are left to compare.
 */
function couldBe<DB>(
  eb: ExpressionBuilder<DB & { row: { term: string } }, "row">,
  spelling: string,
  maxDistance: number,
): Expression<SqlBool> {
  const { length } = Array.from(spelling);
  const otherLetters = eb.fn<string>("translate", ["row.term", eb.val(spelling), eb.val("")]);
  return eb.and([
    eb.between(eb.fn<number>("length", ["row.term"]), length - maxDistance, length + maxDistance),
    eb(eb.fn<number>("length", [otherLetters]), "<=", maxDistance),
  ]);
}
