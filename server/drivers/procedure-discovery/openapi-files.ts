import { realpath } from "node:fs/promises";
import path from "node:path";
import { CORE_SCHEMA, load, Type } from "js-yaml";
import { parseJson } from "../../../domain/shared/json.ts";
import { readUntrusted } from "../../sandbox/untrusted-file.ts";
import { MAX_DOCUMENT_BYTES } from "./openapi-parts.ts";
import { rewriteReferences } from "./openapi-references.ts";

const MAX_FILES = 1000;

/** The documents of one description by file name. The main document has the name "". */
export interface OpenApiDocuments {
  documents: Map<string, unknown>;
  problems: string[];
}

/** Parses the text of a document and rewrites its references, which can lead to no other file. */
export function parseServedDocument(text: string): OpenApiDocuments {
  const document = parseJson(removeByteOrderMark(text));
  rewriteReferences(document, "", () => null);
  return { documents: new Map([["", document]]), problems: [] };
}

/**
 * Reads a document and the files of the repository that it refers to. Nothing outside of the repository is read, also not
 * through a symbolic link.
 *
 * @param file - relative to `root`
 * @throws {RangeError} when the document itself is too large
 */
export async function readRepositoryDocuments(root: string, file: string): Promise<OpenApiDocuments> {
  const reader = new RepositoryReader(await realpath(root));
  const documents = new Map<string, unknown>();
  const main = await reader.read(file);
  documents.set("", main);
  const pending = [...rewriteReferences(main, "", (target) => resolveFile(file, file, target))];
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    if (documents.has(name)) continue;
    const current = name;
    if (documents.size > MAX_FILES) return { documents, problems: [TOO_MANY_FILES] };
    try {
      const document = await reader.read(current);
      documents.set(current, document);
      pending.push(...rewriteReferences(document, current, (target) => resolveFile(file, current, target)));
    } catch (error) {
      if (error instanceof RangeError) return { documents, problems: [TOO_MANY_FILES] };
      throw error;
    }
  }
  return { documents, problems: [] };
}

const TOO_MANY_FILES = `The document refers to more than ${MAX_FILES} files or ${MAX_DOCUMENT_BYTES / 1024 / 1024} MiB; the rest was not read.`;
const FILE_NAME = /\.(json|ya?ml)$/i;

/**
 * Returns the name of the file that a reference in `from` leads to, relative to the repository; "" for the main document
 * and `null` for anything but a JSON or YAML file of the repository.
 */
function resolveFile(main: string, from: string, reference: string): string | null {
  if (/^[a-z][a-z\d+.-]*:|^[/\\]/i.test(reference) || reference.includes("\0")) return null;
  const resolved = path.normalize(path.join(path.dirname(from), decode(reference)));
  if (resolved.startsWith("..") || path.isAbsolute(resolved) || !FILE_NAME.test(resolved)) return null;
  return resolved === path.normalize(main) ? "" : resolved;
}

function decode(reference: string): string {
  try {
    return decodeURIComponent(reference);
  } catch {
    return reference;
  }
}

class RepositoryReader {
  readonly #root: string;
  #remainingBytes: number = MAX_DOCUMENT_BYTES;

  /** @param root - without symbolic links */
  constructor(root: string) {
    this.#root = root;
  }

  /**
   * @returns `undefined` when there is no such file in the repository, or it cannot be parsed
   * @throws {RangeError} when the bound on all files together is exceeded
   */
  async read(file: string): Promise<unknown> {
    // Links in the middle of the path are resolved before the check, so that none can lead out.
    const resolved = await realpath(path.join(this.#root, file)).catch(() => null);
    if (resolved === null || !resolved.startsWith(`${this.#root}${path.sep}`)) return undefined;
    const bytes = await readUntrusted(resolved, this.#remainingBytes, "latin1");
    if (bytes === null) return undefined;
    this.#remainingBytes -= bytes.length;
    const text = decodeText(Buffer.from(bytes, "latin1"));
    return file.toLowerCase().endsWith(".json") ? parseJson(text) : parseYaml(text);
  }
}

/** Windows tools write UTF-16, with a byte order mark. */
function decodeText(bytes: Buffer): string {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (!isUtf16) return removeByteOrderMark(bytes.toString("utf8"));
  return new TextDecoder(bytes[0] === 0xff ? "utf-16le" : "utf-16be").decode(bytes);
}

function removeByteOrderMark(text: string): string {
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

/** The merge key `<<` of YAML 1.1, which documents use for shared responses. */
const MERGE = new Type("tag:yaml.org,2002:merge", { kind: "scalar", resolve: (key: unknown) => key === "<<" });
/** YAML 1.2 with the merge key. A key that occurs twice has its last value, as in JSON. */
const YAML = { schema: CORE_SCHEMA.extend({ implicit: [MERGE] }), json: true };

function parseYaml(text: string): unknown {
  try {
    return load(text, YAML);
  } catch {
    return undefined;
  }
}
