/** The kinds of documents in Company Knowledge. Documents of projects have none. The order is stored, so add at the end. */
export const DOCUMENT_KINDS = ["policy", "pricing", "brand", "sop", "faq"] as const;

export type DocumentKind = (typeof DOCUMENT_KINDS)[number];

/** The category in the search index of documents without a kind. */
const NO_KIND = 7;

/** Returns the category of a kind in the search index. */
export function categoryOf(kind: DocumentKind | null): number {
  return kind === null ? NO_KIND : DOCUMENT_KINDS.indexOf(kind);
}
