import { loadAnalyzer } from "./analyzer.ts";
import type { Language } from "./languages.ts";

/** A text to search for. The index stores its terms, not the text. */
export interface IndexedText {
  /** Its words count more than those of the body. */
  title: string;
  body: string;
  /** 0 to 7. A search can be restricted to categories. */
  category: number;
  language: Language;
  /** Further texts, whose words count as often as their weight says. */
  parts?: readonly TextPart[];
}

export interface TextPart {
  text: string;
  /** How many words of the body one of its words stands for: an integer of at least 1. */
  weight: number;
  /** Which of its words are indexed: those that are not stop words, which is the default, or the others. */
  words?: "stop words";
}

export interface AnalyzedText {
  category: number;
  /** The number of words. */
  length: number;
  counts: ReadonlyMap<string, TermCounts>;
}

/** How often a text contains a term. */
export interface TermCounts {
  title: number;
  body: number;
}

export async function analyzeText({ title, body, parts = [], category, language }: IndexedText): Promise<AnalyzedText> {
  const counts = new Map<string, TermCounts>();
  let length = 0;
  const count = async (field: keyof TermCounts, part: TextPart): Promise<void> => {
    const analyzer = await loadAnalyzer(language);
    const terms = part.words === "stop words" ? analyzer.findStopWords(part.text) : analyzer.analyze(part.text);
    for (const { text: term } of terms) {
      const known = counts.get(term) ?? { title: 0, body: 0 };
      known[field] += part.weight;
      counts.set(term, known);
      length += 1;
    }
  };
  await count("title", { text: title, weight: 1 });
  for (const part of [{ text: body, weight: 1 }, ...parts]) await count("body", part);
  return { category, length, counts };
}
