/** The types of files that are read as documents, as media types. */
export const DOCUMENT_TYPES = {
  markdown: "text/markdown",
  text: "text/plain",
  html: "text/html",
  pdf: "application/pdf",
  docx: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  pptx: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  csv: "text/csv",
  odt: "application/vnd.oasis.opendocument.text",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  odp: "application/vnd.oasis.opendocument.presentation",
  epub: "application/epub+zip",
} as const;

export type DocumentType = (typeof DOCUMENT_TYPES)[keyof typeof DOCUMENT_TYPES];

/** An uploaded file. */
export interface DocumentFile {
  /** The name, perhaps with folders. The end of the name says which type the file should have. */
  name: string;
  content: Uint8Array;
}

/** What a file contains. Both texts are untrusted. */
export interface ReadDocument {
  mediaType: DocumentType;
  /** What the document calls itself; `null` when it says nothing. */
  title: string | null;
  /** Headings and paragraphs as Markdown. */
  text: string;
}

/** A file in an archive. */
export interface ArchivedDocument {
  /** As the archive says: untrusted. */
  path: string;
  content: Uint8Array;
  /** Why the file is not unpacked, in words that follow its name; `null` if it is. */
  problem: string | null;
}

export interface ReadOptions {
  /** Which organization sends the file. It has a share of the reader. */
  orgId: string;
  /** Removes a file that waits, and ends the reading of one that is read. */
  signal?: AbortSignal | undefined;
}

/** Reads untrusted files as text. */
export interface DocumentReader {
  /**
   * Reads one file within bounds on time, memory, pages and text. It follows no link of the file, runs no script of it, and
   * leaves out what a page hides. Safe to repeat.
   *
   * @throws {ServiceError} `invalid` for a file of another type, and for one that is damaged, encrypted, without text or
   *   too large; `unavailable` while too many files are being read
   * @throws the reason of the signal when it is aborted
   */
  read(file: DocumentFile, options: ReadOptions): Promise<ReadDocument>;

  /**
   * Unpacks a zip archive within bounds on time, memory, files and sizes. Links, encrypted files, and files of types that are not read, are
   * named with the problem, and no content. Safe to repeat.
   *
   * @throws {ServiceError} `invalid` for a file that is not a zip archive, is damaged or too large; `unavailable` while too many files
   *   are being read
   * @throws the reason of the signal when it is aborted
   */
  unpack(archive: Uint8Array, options: ReadOptions): Promise<ArchivedDocument[]>;
}
