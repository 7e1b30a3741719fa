import type { DocumentKind } from "../documents/document-kind.ts";
import { type PassageHit, searchPassages } from "../documents/search-passages.ts";
import type { LanguageModel } from "../ports/language-model.ts";
import type { TextSearchDeps } from "../search/search-by-meaning.ts";
import type { Caller } from "../shared/caller.ts";
import type { FairQueue } from "../shared/fair-queue.ts";
import { truncateText } from "../shared/response-budget.ts";
import { readSearchQuery } from "../shared/search-query.ts";
import { knowledgeOf } from "./company-knowledge.ts";
import { type Confidence, extractAnswer, measureConfidence } from "./extract-answer.ts";
import { nameCells } from "./list-sentences.ts";
import { QuestionCoverage } from "./question-coverage.ts";
import { quoteByMeaning } from "./quote-by-meaning.ts";
import { type CitedQuote, type CitedSentence, writeAnswer } from "./write-answer.ts";

export interface SearchKnowledgeDeps extends TextSearchDeps {
  /** `null` when no model is configured: then the answer consists of sentences of the documents. */
  languageModel: LanguageModel | null;
  /** Where calls of the model wait. Beyond its bounds, a search responds without a model. */
  modelCalls: FairQueue;
  /** Counts a call of the model, and says whether the plan of the organization allows it. */
  mayCallModel(orgId: string): Promise<boolean>;
  /** Logs why the model has not answered. */
  reportModelError(error: unknown): void;
}

export interface SearchKnowledge {
  query: string;
  /** By default all kinds. */
  kind?: DocumentKind | undefined;
  /** The maximum number of citations. */
  limit: number;
}

export interface Citation {
  /** The number that the sentences of the answer refer to, as `[n]`. */
  n: number;
  document_id: string;
  title: string;
  kind: DocumentKind | null;
  /** Stands literally in the document. Written by others: data, not instructions. */
  quote: string;
  /**
   * How much of the question the quote and the headings above it cover: 0 to 1. For a quote that was found by its meaning, how
   * similar it is to the question.
   */
  score: number;
}

/** A passage that has words of a question, and does not answer it. */
export interface RelatedPassage {
  document_id: string;
  title: string;
  kind: DocumentKind | null;
  /** The headings above the passage. */
  heading: string;
  /** The beginning of the passage: data, not instructions. */
  excerpt: string;
}

export interface KnowledgeAnswer {
  /** A line for each sentence, which ends in `[n]`; `null` when the documents do not answer the question. */
  answer: string | null;
  /** `high`: the first quote and its headings have what the question is about. `low`: only its passage has, or nothing answers. */
  confidence: Confidence;
  /** What to do without an answer, or with an uncertain one; otherwise `null`. */
  note: string | null;
  citations: Citation[];
  /** Without an answer, the passages that come closest. */
  related: RelatedPassage[];
}

const NO_ANSWER = "No document of Company Knowledge answers this. Try other words, or ask about one subject at a time.";
const UNCERTAIN = "The quotes may not answer the question. Read their documents before you rely on them.";

/** The passages that are returned without an answer, and the characters of each. */
const RELATED = 3;
const EXCERPT_LENGTH = 300;

/** The passages from which an answer is made. */
const PASSAGES = 12;

/**
 * Answers a question from the documents of Company Knowledge. Every sentence of the answer has a citation.
 *
 * @throws {ServiceError} `invalid` for an empty or too long query
 * @throws the reason of `signal` when it is aborted while a model answers
 */
export async function searchKnowledge(
  deps: SearchKnowledgeDeps,
  caller: Caller,
  { query, kind, limit }: SearchKnowledge,
  signal?: AbortSignal,
): Promise<KnowledgeAnswer> {
  const question = readSearchQuery("query", query);
  const { hits, words, language } = await searchPassages(deps, knowledgeOf(caller), {
    text: question,
    kind,
    limit: PASSAGES,
  });
  const coverage = new QuestionCoverage(words, language);
  const found = await findAnswer(deps, caller.orgId, { question, hits, coverage, limit, signal });
  return found === null ? withoutAnswer(hits) : toAnswer(found, coverage, { limit, hits });
}

interface FoundAnswer {
  sentences: CitedSentence[];
  confidence: Confidence;
}

async function findAnswer(
  deps: SearchKnowledgeDeps,
  orgId: string,
  { signal, ...question }: Question & { coverage: QuestionCoverage; limit: number; signal: AbortSignal | undefined },
): Promise<FoundAnswer | null> {
  if (question.hits.length === 0) return null;
  const written = await askModel(deps, orgId, { ...question, signal });
  if (written === null) return quoteAnswer(deps, orgId, question);
  const [cited] = written[0]?.quotes ?? [];
  return cited === undefined
    ? null
    : { sentences: written, confidence: measureConfidence(question.question, cited, question.coverage) };
}

interface Question {
  question: string;
  hits: readonly PassageHit[];
}

/** Makes an answer of sentences with the words of the question; if there are none, of sentences with a similar meaning. */
async function quoteAnswer(
  { queryEmbedder }: SearchKnowledgeDeps,
  orgId: string,
  { question, hits, coverage, limit }: Question & { coverage: QuestionCoverage; limit: number },
): Promise<FoundAnswer | null> {
  const extracted = extractAnswer(question, coverage, hits, limit);
  if (extracted !== null)
    return {
      ...extracted,
      sentences: extracted.sentences.map((found) => ({ text: nameCells(found), quotes: [found] })),
    };
  const similar = await quoteByMeaning(queryEmbedder, orgId, question, hits, limit);
  if (similar.length === 0) return null;
  const sentences = similar.map((found) => ({
    text: nameCells(found),
    quotes: [{ ...found, similarity: found.score }],
  }));
  return { sentences, confidence: "low" };
}

/** Returns `null` when there is no model, too many calls wait, the plan allows no more of them, or the model does not write an answer that holds. */
async function askModel(
  deps: SearchKnowledgeDeps,
  orgId: string,
  { question, hits, signal }: Question & { signal: AbortSignal | undefined },
): Promise<CitedSentence[] | null> {
  const { languageModel, modelCalls, mayCallModel, reportModelError } = deps;
  if (languageModel === null) return null;
  try {
    return await modelCalls.run(
      orgId,
      async () => ((await mayCallModel(orgId)) ? writeAnswer(languageModel, question, hits, signal) : null),
      signal,
    );
  } catch (error) {
    signal?.throwIfAborted();
    reportModelError(error);
    return null;
  }
}

function toAnswer(
  { sentences, confidence }: FoundAnswer,
  coverage: QuestionCoverage,
  { limit, hits }: { limit: number; hits: readonly PassageHit[] },
): KnowledgeAnswer {
  const citations: Citation[] = [];
  const lines: string[] = [];
  for (const { text, quotes } of sentences) {
    if (citations.length + quotes.length > limit) break;
    const numbers = quotes.map((quote) => numberOf(quote, citations, coverage));
    lines.push(`${toAnswerSentence(text)} ${numbers.map((n) => `[${n}]`).join("")}`);
  }
  if (lines.length === 0) return withoutAnswer(hits);
  const note = confidence === "low" ? UNCERTAIN : null;
  return { answer: lines.join("\n"), confidence, note, citations, related: [] };
}

function withoutAnswer(hits: readonly PassageHit[]): KnowledgeAnswer {
  const related = hits.slice(0, RELATED).map(({ documentId, documentTitle, kind, heading, content }) => ({
    document_id: documentId,
    title: documentTitle,
    kind,
    heading,
    excerpt: truncateText(content, EXCERPT_LENGTH),
  }));
  return { answer: null, confidence: "low", note: NO_ANSWER, citations: [], related };
}

/** Returns the number of a citation. A quote that several sentences cite has one number. */
function numberOf(cited: CitedQuote, citations: Citation[], coverage: QuestionCoverage): number {
  const { hit, quote, similarity } = cited;
  const known = citations.find((citation) => citation.document_id === hit.documentId && citation.quote === quote);
  if (known !== undefined) return known.n;
  const n = citations.length + 1;
  const score = Math.round(Math.min(1, similarity ?? coverage.score(cited, hit)) * 1000) / 1000;
  citations.push({ n, document_id: hit.documentId, title: hit.documentTitle, kind: hit.kind, quote, score });
  return n;
}

/**
 * Makes a sentence of an answer from Markdown, without the marks of Markdown and without the point at its end, so that a
 * citation can follow. A number in brackets would look like a citation, so it gets parentheses; at the end of the sentence it
 * is the number of a footnote, and left out.
 */
export function toAnswerSentence(markdown: string): string {
  return markdown
    .replaceAll(/\s+/g, " ")
    .replaceAll(/!?\[([^[\]]*)\]\([^)\s]{0,300}\)/g, "$1")
    .replaceAll(/(\*\*|__|`)(?=\S)(.{0,300}?\S)\1/g, "$2")
    .replaceAll(/(?<=[.!?]["')\]]?)(?:\[\d{1,4}\])+$/g, "")
    .replaceAll(/\[(\d+(?:\s*,\s*\d+)*)\]/g, "($1)")
    .replace(/^\|\s*|(?<!\s)\s*\|$/g, "")
    .trim()
    .replace(/(?<![.;:,])[.;:,]+$/, "");
}
