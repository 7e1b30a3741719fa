const MEBIBYTE = 1024 * 1024;

export const DOCUMENT_LIMITS = {
  /** An uploaded file. */
  fileBytes: 20 * MEBIBYTE,
  /** The text of a document in UTF-8. */
  textBytes: 2 * MEBIBYTE,
  /** The passages of a document. A text with more headings is split regardless of them. */
  passages: 5000,
  /** The different words of a document, as the search index counts them. */
  differentWords: 300_000,
  /** The pages of a PDF file. */
  pages: 500,
  titleLength: 200,
  /** The name of a file, with its folders. */
  fileNameLength: 255,
  /** How many versions of a document are kept. */
  versions: 20,
} as const;
