import type { Language } from "../search/languages.ts";
import type { PassageHit } from "../documents/search-passages.ts";
import type { QuestionCoverage } from "./question-coverage.ts";
import { findCondition, restricts } from "./find-condition.ts";
import { listSentences, type Sentence } from "./list-sentences.ts";
import { hasAmount, hasNumber, isDefinition, type QuestionKind, readQuestionKind } from "./question-kind.ts";

/** A sentence of a document, or a row of a table, that answers a question. */
export interface FoundSentence extends Sentence {
  hit: PassageHit;
  /** How much of the question the sentence and the headings above it cover: 0 to 1. */
  score: number;
}

/** `high`: the sentence and its headings have what the question is about. `low`: only its passage has, or not all of it. */
export type Confidence = "high" | "low";

export interface ExtractedAnswer {
  /** The best sentence first. */
  sentences: FoundSentence[];
  confidence: Confidence;
}

/** How much of a question a passage covers, at least, to answer it. Measured: decision 30. */
const MIN_COVERAGE = 0.45;
/** How much of what the question is about its passage must have, so that a sentence of it answers the question, and so that it does for certain. */
const MIN_MET = 0.6;
const MIN_MET_FOR_CERTAIN = 0.9;
/** How much of it the sentence itself must have, with the headings above it and the sentences beside it. */
const MIN_MET_BY_SENTENCE = 0.5;
/** A further sentence is as good as this share of the best one. */
const FURTHER_SHARE = 0.7;
/** How much of the score of a sentence depends on the rank of its passage. */
const RANK_SHARE = 0.5;
/** A question for a number prefers sentences with one. */
const NUMBER_BONUS = 1.15;
/** A question for what is allowed prefers sentences that forbid something, and one for a definition those that define it. */
const FORM_BONUS = 1.25;
/** A heading that asks the question itself has its answer in its first sentence. */
const HEADING_BONUS = 0.5;
const MIN_MET_BY_HEADING = 0.7;
/** What a sentence counts that is mostly an address. */
const ADDRESS_SHARE = 0.4;
/** Of two sentences that are equally good, the earlier one in its passage. */
const POSITION_MALUS = 0.01;

/**
 * Finds the sentences that answer a question in passages. A sentence beside the best one that restricts it follows it.
 *
 * @returns `null` when no passage has what the question is about
 */
export function extractAnswer(
  question: string,
  coverage: QuestionCoverage,
  hits: readonly PassageHit[],
  limit: number,
): ExtractedAnswer | null {
  const ranked = rankSentences(question, coverage, hits);
  const [first] = ranked;
  if (first === undefined) return null;
  const condition = findCondition(first, (sentence) => coverage.score(sentence, sentence.hit) > 0);
  const least = first.score * FURTHER_SHARE;
  const further = ranked.slice(1).filter(({ score }) => score >= least);
  const sentences = [first, ...(condition === null ? [] : [condition]), ...further];
  // The same sentence can be in several documents. The first one stays.
  const quotes = new Set<string>();
  const different = sentences.filter(({ quote }) => !quotes.has(quote) && quotes.add(quote));
  return { sentences: different.slice(0, limit), confidence: measureConfidence(question, first, coverage) };
}

/** Returns the sentences of passages that have what the question is about, the best one first. */
function rankSentences(question: string, coverage: QuestionCoverage, hits: readonly PassageHit[]): FoundSentence[] {
  const kind = readQuestionKind(question);
  const best = Math.max(...hits.map(({ score }) => score));
  const found = hits.flatMap((hit) => {
    if (!isAbout(kind, coverage, hit)) return [];
    const isAsked = coverage.meets([], hit).all >= MIN_MET_BY_HEADING;
    const sentences = listSentences(hit.content);
    return sentences.flatMap((sentence, position) => {
      const beside = sentences.slice(Math.max(0, position - 1), position + 2).map(({ quote }) => quote);
      if (coverage.meets([...beside, sentence.header ?? ""], hit).all < MIN_MET_BY_SENTENCE) return [];
      if (!hasAmount(kind, sentence.quote)) return [];
      const rank = 1 - RANK_SHARE + (RANK_SHARE * hit.score) / best;
      const heading = isAsked ? 1 + HEADING_BONUS / (1 + position) : 1;
      const fit = heading * weighForm(kind, sentence.quote, hit.language);
      const score = coverage.score(sentence, hit) * fit * rank - POSITION_MALUS * Math.min(position, 9);
      return [{ ...sentence, hit, score }];
    });
  });
  return found
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .map((sentence) => ({ ...sentence, score: Math.min(1, sentence.score) }));
}

/** Whether a passage has what the question is about: each of its rare words, and its versions literally. */
function isAbout({ versions }: QuestionKind, coverage: QuestionCoverage, hit: PassageHit): boolean {
  const { all, rare } = coverage.meets([hit.content], hit);
  if (coverage.ofPassage(hit) < MIN_COVERAGE || all < MIN_MET || !rare) return false;
  const text = `${hit.documentTitle}\n${hit.heading}\n${hit.content}`;
  return versions.every((version) => text.includes(version));
}

/** Returns how well the form of a sentence fits that of the question. */
function weighForm(kind: QuestionKind, quote: string, language: Language): number {
  const number = kind.asksForNumber && hasNumber(quote) ? NUMBER_BONUS : 1;
  const permission = kind.asksForPermission && restricts(quote, language) ? FORM_BONUS : 1;
  const definition = kind.asksForDefinition && isDefinition(quote) ? FORM_BONUS : 1;
  const addresses = (quote.match(/\bhttps?:\S+/g) ?? []).join("").length;
  const prose = addresses > quote.length / 3 || quote.startsWith("http") ? ADDRESS_SHARE : 1;
  return number * permission * definition * prose;
}

/** Returns how certain it is that a sentence answers the question. */
export function measureConfidence(
  question: string,
  { quote, header, hit }: CitedSentenceOf,
  coverage: QuestionCoverage,
): Confidence {
  const { all, rare } = coverage.meets([quote, header ?? ""], hit);
  const hasForm = !readQuestionKind(question).asksForNumber || hasNumber(quote);
  return hasForm && rare && all >= MIN_MET_FOR_CERTAIN ? "high" : "low";
}

type CitedSentenceOf = Pick<FoundSentence, "quote" | "header" | "hit">;
