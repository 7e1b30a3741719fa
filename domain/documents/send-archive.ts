import type { ArchivedDocument } from "../ports/document-reader.ts";
import { decodeBase64 } from "../shared/base64.ts";
import { ServiceError } from "../shared/errors.ts";
import { archivePrefix, findPathProblem, isHiddenFile } from "./archive-files.ts";
import { DOCUMENT_LIMITS } from "./document-limits.ts";
import { checkFileName } from "./document-rules.ts";
import { readFile, type SentContent } from "./read-content.ts";
import { type ChangedDocument, type DocumentSender, type SendDocumentDeps, summarize } from "./send-document.ts";
import { type DocumentFields, storeDocument } from "./write-document.ts";

export interface AddArchive extends Omit<DocumentFields, "title"> {
  file: NonNullable<SentContent["file"]>;
}

/** What became of the files of an archive. */
export interface AddedArchive {
  documents: ChangedDocument[];
  /** Files that are not stored, with the reason. */
  refused: { file: string; error: string }[];
  /** How many hidden files are left out. */
  left_out: number;
}

/** A client does not wait longer for a response. */
const MAX_MS = 240_000;

/** Errors that say why one file is not stored. The others are tried all the same. */
const OF_FILE: readonly ServiceError["code"][] = ["invalid", "plan_limit", "unavailable"];

/**
 * Adds the documents in a zip archive, as if each had been sent with its path as name. A file that cannot be stored does not stop the others.
 *
 * @throws {ServiceError} `invalid` for a file that is not a zip archive; `unavailable` while too many files are being read
 * @throws the reason of `signal` when it is aborted; what was stored until then stays
 */
export async function addArchive(
  deps: SendDocumentDeps,
  sender: DocumentSender,
  { file, ...fields }: AddArchive,
  signal?: AbortSignal,
): Promise<AddedArchive> {
  checkFileName(file.name);
  const archive = decodeBase64(file.content);
  if (archive === null || archive.length === 0)
    throw new ServiceError("invalid", "file.content: must be the content of a zip archive in base64.");
  if (archive.length > DOCUMENT_LIMITS.fileBytes)
    throw new ServiceError(
      "invalid",
      `file: the archive has more than ${DOCUMENT_LIMITS.fileBytes / 1024 / 1024} MiB. Split it, or send its files one by one.`,
    );
  const options = { orgId: sender.owner.orgId, signal };
  const entries = await deps.documentReader.unpack(archive, options);
  const shown = entries.filter(({ path }) => !isHiddenFile(path));
  const prefix = archivePrefix(
    file.name,
    shown.filter(({ path, problem }) => problem === null && findPathProblem(path) === null).map(({ path }) => path),
  );
  const result: AddedArchive = { documents: [], refused: [], left_out: entries.length - shown.length };
  const endsAt = Date.now() + MAX_MS;
  for (const entry of shown) {
    signal?.throwIfAborted();
    const name = prefix + entry.path;
    const problem = entry.problem ?? findPathProblem(name) ?? (Date.now() > endsAt ? TOO_LATE : null);
    if (problem !== null) result.refused.push({ file: name, error: `The file ${problem}` });
    else await addEntry(deps, sender, { name, content: entry.content, fields }, { result, signal });
  }
  return result;
}

const TOO_LATE = "is not stored, because the upload took too long. Send the archive again for the others.";

async function addEntry(
  deps: SendDocumentDeps,
  { owner, userId }: DocumentSender,
  { name, content: bytes, fields }: { name: string; content: ArchivedDocument["content"]; fields: DocumentFields },
  { result, signal }: { result: AddedArchive; signal: AbortSignal | undefined },
): Promise<void> {
  try {
    const content = await readFile(deps.documentReader, { name, bytes }, { orgId: owner.orgId, signal });
    const written = await storeDocument(deps, owner, { userId, content, fields });
    result.documents.push(await summarize(deps.db, owner, written));
  } catch (error) {
    const isOfFile = error instanceof ServiceError && OF_FILE.includes(error.code);
    if (!isOfFile) throw error;
    result.refused.push({ file: name, error: error.message });
  }
}
