import { type AnalyzedText, analyzeText, type IndexedText, type TermCounts } from "./indexed-text.ts";
import type { Language } from "./languages.ts";
import { blockOf, encodePosting, POSTING_BYTES } from "./postings.ts";

/** How many terms one statement writes or reads, so that the thread between two statements is busy for a short time. */
const TERMS_AT_ONCE = 2000;

/** The postings of some terms, for texts whose index ids are not known yet. */
export interface EncodedTerms {
  /** Separated by spaces. */
  terms: string;
  /** The number of postings of each term and of all terms before it. */
  ends: Uint32Array;
  /** The number of the text of each posting, ascending for each term. */
  texts: Uint32Array;
  /** The postings as `encodePosting` writes them, with the offset 0. */
  data: Uint8Array;
}

/** What the index stores of texts. It is plain data: a worker thread can compute it. */
export interface EncodedTexts {
  /** The number of the texts. */
  size: number;
  /** The texts with words, and the sum of their words. */
  count: number;
  length: number;
  /** The same for each language. */
  languages: LanguageSize[];
  chunks: EncodedTerms[];
}

/** The texts of a language with words, and the sum of their words. */
export interface LanguageSize {
  language: Language;
  count: number;
  length: number;
}

export type NumberedText = IndexedText & { indexId: number };

/** What has to be read to remove texts from the index. It is plain data: a worker thread can compute it. */
export interface TextRemoval {
  texts: { indexId: number; language: Language; length: number }[];
  /** The terms of the texts of each block, in chunks whose terms are separated by spaces. */
  blocks: { block: number; indexIds: number[]; terms: string[] }[];
}

/** Analyzes texts and encodes their postings. */
export async function encodeTexts(texts: readonly IndexedText[]): Promise<EncodedTexts> {
  const numbersByTerm = new Map<string, number[]>();
  const analyzed: (AnalyzedText & { language: Language })[] = [];
  for (const [number, text] of texts.entries()) {
    const result = await analyzeText(text);
    analyzed.push({ ...result, language: text.language });
    for (const term of result.counts.keys()) {
      const numbers = numbersByTerm.get(term);
      if (numbers === undefined) numbersByTerm.set(term, [number]);
      else numbers.push(number);
    }
  }
  const found = analyzed.filter(({ counts }) => counts.size > 0);
  return {
    size: texts.length,
    count: found.length,
    length: found.reduce((sum, { length }) => sum + length, 0),
    languages: sizeByLanguage(found),
    chunks: toChunks([...numbersByTerm]).map((terms) => encodeTerms(terms, analyzed)),
  };
}

/** Analyzes texts that are in the index, to remove them. */
export async function planRemoval(texts: readonly NumberedText[]): Promise<TextRemoval> {
  const analyzed = [];
  for (const text of texts)
    analyzed.push({ ...(await analyzeText(text)), indexId: text.indexId, language: text.language });
  return {
    texts: analyzed.map(({ indexId, language, length }) => ({ indexId, language, length })),
    blocks: [...Map.groupBy(analyzed, ({ indexId }) => blockOf(indexId))].map(([block, ofBlock]) => ({
      block,
      indexIds: ofBlock.map(({ indexId }) => indexId),
      terms: toChunks([...new Set(ofBlock.flatMap(({ counts }) => [...counts.keys()]))]).map((terms) =>
        terms.join(" "),
      ),
    })),
  };
}

/** Counts texts and their words for each language. */
export function sizeByLanguage(texts: readonly { language: Language; length: number }[]): LanguageSize[] {
  return [...Map.groupBy(texts, ({ language }) => language)].map(([language, ofLanguage]) => ({
    language,
    count: ofLanguage.length,
    length: ofLanguage.reduce((sum, { length }) => sum + length, 0),
  }));
}

const NO_COUNTS: TermCounts = { title: 0, body: 0 };

function encodeTerms(terms: readonly (readonly [string, number[]])[], analyzed: readonly AnalyzedText[]): EncodedTerms {
  const total = terms.reduce((sum, [, numbers]) => sum + numbers.length, 0);
  const ends = new Uint32Array(terms.length);
  const texts = new Uint32Array(total);
  const data = new Uint8Array(total * POSTING_BYTES);
  let at = 0;
  for (const [index, [term, numbers]] of terms.entries()) {
    for (const number of numbers) {
      const { category = 0, length = 0, counts } = analyzed[number] ?? {};
      const { title, body } = counts?.get(term) ?? NO_COUNTS;
      texts[at] = number;
      encodePosting(data, at * POSTING_BYTES, { offset: 0, category, titleCount: title, bodyCount: body, length });
      at += 1;
    }
    ends[index] = at;
  }
  return { terms: terms.map(([term]) => term).join(" "), ends, texts, data };
}

function toChunks<T>(values: readonly T[]): T[][] {
  const chunks: T[][] = [];
  for (let start = 0; start < values.length; start += TERMS_AT_ONCE)
    chunks.push(values.slice(start, start + TERMS_AT_ONCE));
  return chunks;
}
