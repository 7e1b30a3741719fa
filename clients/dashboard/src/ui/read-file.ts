import { DOCUMENT_EXTENSIONS } from "../../../../domain/documents/archive-files.ts";

/** What the service accepts as a file of a document. */
export interface SentFile {
  name: string;
  content: string;
}

/** The types of files that the service reads, for the picker. */
export const ACCEPTED = DOCUMENT_EXTENSIONS.map((extension) => `.${extension}`).join(",");

/** Reads a file as base64. The name contains the folders if a folder was chosen. */
export async function readFile(file: File): Promise<SentFile> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  // A call can have only so many arguments.
  for (let at = 0; at < bytes.length; at += 32_768) binary += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  return { name: file.webkitRelativePath === "" ? file.name : file.webkitRelativePath, content: btoa(binary) };
}
