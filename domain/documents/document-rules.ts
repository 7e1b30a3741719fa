import { isPlainLine } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { toPlainText } from "../shared/plain-text.ts";
import { truncateText } from "../shared/response-budget.ts";
import { DOCUMENT_LIMITS } from "./document-limits.ts";

const MEBIBYTE = 1024 * 1024;

/** @throws {ServiceError} `invalid` */
export function checkTitle(title: string): void {
  if (isPlainLine(title, DOCUMENT_LIMITS.titleLength)) return;
  throw new ServiceError(
    "invalid",
    `title: must be one line of 1 to ${DOCUMENT_LIMITS.titleLength} characters without spaces at its ends. Example: "Travel policy".`,
  );
}

/** Makes a title of a text that a document or the name of a file contains. Returns an empty text if it has no words. */
export function toTitle(text: string): string {
  const line = toPlainText(text)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ")
    .trim();
  return truncateText(line, DOCUMENT_LIMITS.titleLength).trim();
}

/**
 * Makes plain text of the content of a document: without control characters, and with `\n` as line break.
 *
 * @throws {ServiceError} `invalid` for a text that is empty or too long
 */
export function cleanContent(content: string): string {
  const text = toPlainText(content).trim();
  if (text === "")
    throw new ServiceError("invalid", "content: the document has no text. Send a document with at least one word.");
  if (Buffer.byteLength(text) <= DOCUMENT_LIMITS.textBytes) return `${text}\n`;
  throw new ServiceError(
    "invalid",
    `content: the document has more than ${DOCUMENT_LIMITS.textBytes / MEBIBYTE} MiB of text. Split it into several documents.`,
  );
}

/** The same error for a document that never existed and for any of another organization or another project. */
export function documentNotFound(): ServiceError {
  return new ServiceError("not_found", "Document not found.");
}

export function documentOfSource(): ServiceError {
  return new ServiceError(
    "conflict",
    "The document is read from a source and follows it. Change it at the source, or delete the source.",
  );
}

/** @throws {ServiceError} `invalid` */
export function checkFileName(name: string): void {
  if (isPlainLine(name, DOCUMENT_LIMITS.fileNameLength)) return;
  throw new ServiceError(
    "invalid",
    `file.name: must be one line of 1 to ${DOCUMENT_LIMITS.fileNameLength} characters. Example: "policies/travel.pdf".`,
  );
}
