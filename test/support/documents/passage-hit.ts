import type { PassageHit } from "../../../domain/documents/search-passages.ts";
import { loadAnalyzer } from "../../../domain/search/analyzer.ts";
import type { WeighedWord } from "../../../domain/search/weigh-words.ts";

/** A passage in English, without a heading, that was found by its words. */
export function passageHit(content: string, more: Partial<PassageHit> = {}): PassageHit {
  return {
    documentId: "document",
    documentTitle: "Untitled",
    kind: "policy",
    language: "english",
    heading: "",
    content,
    score: 1,
    similarity: null,
    ...more,
  };
}

/** The words of a question in English, which all say equally much. It loads the analyzer of English. */
export async function questionWords(question: string, more: Partial<WeighedWord> = {}): Promise<WeighedWord[]> {
  const analyzer = await loadAnalyzer("english");
  return question.split(" ").map((word) => ({
    text: word.toLowerCase(),
    terms: new Set(analyzer.analyze(word).map(({ text }) => text)),
    isMissing: false,
    isStopWord: false,
    weight: 1,
    ...more,
  }));
}
