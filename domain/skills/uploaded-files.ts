import { decodeBase64 } from "../shared/base64.ts";
import { FileCollector, invalidFile, type SkillFiles } from "./collect-files.ts";

export const ENCODINGS = ["utf-8", "base64"] as const;

export type Encoding = (typeof ENCODINGS)[number];

/** A file as JSON. */
export interface FileAsJson {
  /** Relative to the folder of the skill. */
  path: string;
  content: string;
  encoding: Encoding;
}

export type UploadedFile = Omit<FileAsJson, "encoding"> & { encoding?: Encoding | undefined };

/** @throws {ServiceError} `invalid` */
export function decodeFiles(name: string, uploaded: readonly UploadedFile[]): SkillFiles {
  const collector = new FileCollector();
  for (const file of uploaded) {
    collector.reserve(file.path);
    collector.add(file.path, file.encoding === "base64" ? decodeFile(file) : encodeText(file));
  }
  return collector.finish(name);
}

function encodeText({ path, content }: UploadedFile): Uint8Array {
  if (content.isWellFormed() && !content.includes("\0")) return Buffer.from(content);
  throw invalidFile(path, "has NUL characters or unpaired surrogates. Send a binary file with the encoding base64");
}

function decodeFile({ path, content }: UploadedFile): Uint8Array {
  const bytes = decodeBase64(content);
  if (bytes === null) throw invalidFile(path, "is not valid base64");
  return bytes;
}

/** Returns a text as it is, and every other content in base64. */
export function toFileAsJson(path: string, content: Uint8Array): FileAsJson {
  const text = Buffer.from(content).toString();
  const isText = !text.includes("\0") && Buffer.from(text).equals(content);
  return isText
    ? { path, content: text, encoding: "utf-8" }
    : { path, content: Buffer.from(content).toString("base64"), encoding: "base64" };
}
