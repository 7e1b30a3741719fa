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

export async function analyzeText({ title, body, category, language }: IndexedText): Promise<AnalyzedText> {
  const analyzer = await loadAnalyzer(language);
  const counts = new Map<string, TermCounts>();
  const count = (field: keyof TermCounts, text: string): number => {
    const terms = analyzer.analyze(text);
    for (const { text: term } of terms) {
      const known = counts.get(term);
      if (known === undefined) counts.set(term, { title: 0, body: 0, [field]: 1 });
      else known[field] += 1;
    }
    return terms.length;
  };
  return { category, length: count("title", title) + count("body", body), counts };
}
