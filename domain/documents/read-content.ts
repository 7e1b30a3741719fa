import { DOCUMENT_TYPES, type DocumentReader, type ReadOptions } from "../ports/document-reader.ts";
import { decodeBase64 } from "../shared/base64.ts";
import { ServiceError } from "../shared/errors.ts";
import { DOCUMENT_LIMITS } from "./document-limits.ts";
import { checkFileName, toTitle } from "./document-rules.ts";
import { findTitle, titleOfFile } from "./find-title.ts";
import type { DocumentContent } from "./write-document.ts";

/** The text of a document as Markdown, or a file. */
export interface SentContent {
  content?: string | undefined;
  file?: { name: string; content: string } | undefined;
}

/**
 * Reads what a caller sends as the content of a document: a text, or a file in base64.
 *
 * @returns `undefined` when the caller sends neither
 * @throws {ServiceError} `invalid` when the caller sends both, and for a file that cannot be read; `unavailable` while too
 *   many files are being read
 */
export async function readContent(
  reader: DocumentReader,
  { content, file }: SentContent,
  options: ReadOptions,
): Promise<DocumentContent | undefined> {
  if (content !== undefined && file !== undefined)
    throw new ServiceError("invalid", "Send either content or file, and not both.");
  if (file !== undefined) {
    checkFileName(file.name);
    return readFile(reader, decodeFile(file), options);
  }
  if (content === undefined) return undefined;
  return {
    text: content,
    title: titleOf(findTitle(content, null) ?? ""),
    fileName: null,
    mediaType: DOCUMENT_TYPES.markdown,
    sizeBytes: Buffer.byteLength(content),
  };
}

function decodeFile(file: { name: string; content: string }): SentFile {
  const bytes = decodeBase64(file.content);
  if (bytes === null || bytes.length === 0)
    throw new ServiceError("invalid", "file.content: must be the content of a file in base64.");
  return { name: file.name, bytes };
}

export interface SentFile {
  name: string;
  bytes: Uint8Array;
}

/** Reads an uploaded file. @throws {ServiceError} as `readContent` does */
export async function readFile(
  reader: DocumentReader,
  { name, bytes }: SentFile,
  options: ReadOptions,
): Promise<DocumentContent> {
  checkFileName(name);
  if (bytes.length === 0) throw new ServiceError("invalid", "file: the file is empty.");
  if (bytes.length > DOCUMENT_LIMITS.fileBytes)
    throw new ServiceError(
      "invalid",
      `file: the file has more than ${DOCUMENT_LIMITS.fileBytes / 1024 / 1024} MiB. Split it into several files.`,
    );
  const { text, title, mediaType } = await reader.read({ name, content: bytes }, options);
  return {
    text,
    title: titleOf(title ?? "") ?? titleOf(findTitle(text, name) ?? "") ?? titleOf(titleOfFile(name)),
    fileName: name,
    mediaType,
    sizeBytes: bytes.length,
  };
}

function titleOf(text: string): string | null {
  const title = toTitle(text);
  return title === "" ? null : title;
}
