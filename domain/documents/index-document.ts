import { type EncodedTexts, encodeTexts, planRemoval, type TextRemoval } from "../search/encode-texts.ts";
import type { IndexedText } from "../search/indexed-text.ts";
import type { Language } from "../search/languages.ts";
import { categoryOf, type DocumentKind } from "./document-kind.ts";
import { type DocumentLanguage, findLanguages } from "./passage-languages.ts";
import { type Passage, splitPassages } from "./split-passages.ts";

/** What the index stores of a document besides its text. */
export interface IndexedDocument {
  title: string;
  /** Absent or `null` for a document without a kind. */
  kind?: DocumentKind | null | undefined;
  language: DocumentLanguage;
}

/** The passages of a document, and what the search index stores of them. It is plain data. */
export interface IndexedPassages {
  passages: (Passage & { language: Language })[];
  texts: EncodedTexts;
}

/** A passage that is stored. */
export interface StoredPassage {
  heading: string;
  content: string;
  /** `null` for a passage that was added before languages were detected. */
  language: Language | null;
  index_id: number;
}

/** Splits a document into passages and analyzes them. Runs in a worker thread. */
export async function indexDocument({
  document,
  content,
}: {
  document: IndexedDocument;
  content: string;
}): Promise<IndexedPassages> {
  const split = splitPassages(content);
  const languages = await findLanguages(document.language, split);
  const passages = split.map((passage, index) => ({ ...passage, language: languages[index] ?? "english" }));
  return { passages, texts: await encodeTexts(passages.map((passage) => toIndexedText(document, passage))) };
}

/**
 * Analyzes stored passages, to remove them from the search index. Runs in a worker thread.
 *
 * @param document - as it was when the passages were added
 */
export function planPassageRemoval({
  document,
  passages,
}: {
  document: IndexedDocument;
  passages: readonly StoredPassage[];
}): Promise<TextRemoval> {
  return planRemoval(
    passages.map((passage) => ({
      ...toIndexedText(document, { ...passage, language: languageOf(passage.language, document.language) }),
      indexId: passage.index_id,
    })),
  );
}

export function toIndexedText(
  { title, kind }: Pick<IndexedDocument, "title" | "kind">,
  { heading, content, language }: { heading: string; content: string; language: Language },
): IndexedText {
  return { title: `${title}\n${heading}`, body: content, category: categoryOf(kind ?? null), language };
}

/** Returns the language with which a stored passage was indexed. Before languages were detected, it was English if none was stated. */
export function languageOf(stored: Language | null, stated: DocumentLanguage): Language {
  return stored ?? (stated === "auto" ? "english" : stated);
}

/** The work on documents that runs in worker threads. */
export interface DocumentTasks {
  indexDocument: typeof indexDocument;
  planPassageRemoval: typeof planPassageRemoval;
}
