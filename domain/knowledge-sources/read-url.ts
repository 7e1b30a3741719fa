import { DOCUMENT_EXTENSIONS } from "../documents/archive-files.ts";
import { DOCUMENT_LIMITS } from "../documents/document-limits.ts";
import { DOCUMENT_TYPES } from "../ports/document-reader.ts";
import { isPlainLine } from "../shared/display-name.ts";
import { ServiceError } from "../shared/errors.ts";
import { sha256Hex } from "../shared/sha256.ts";
import type { ClaimedSource, ReadSourceDeps, SourceOutcome } from "./read-source.ts";
import { deleteStored, listStored, storeFile } from "./store-file.ts";

/** The time for a whole file, in milliseconds. */
const TIMEOUT_MS = 120_000;

/**
 * Reads the page or file of a source.
 *
 * @throws {ServiceError} when it cannot be read or stored
 */
export async function readUrl(
  deps: ReadSourceDeps,
  claimed: ClaimedSource,
  url: string,
  signal: AbortSignal,
): Promise<SourceOutcome> {
  const { source, owner } = claimed;
  const stored = await listStored(deps, claimed);
  // Without the document, its version is not known.
  const known = stored.size > 0 ? source : null;
  const file = await readPublicFile(deps, url, known, signal);
  if (file === null) return {};
  const name = nameFile(url, file.mediaType);
  const hash = sha256Hex(file.content);
  if (stored.get(name)?.hash !== hash) await storeFile(deps, claimed, { name, bytes: file.content, hash }, signal);
  const outdated = [...stored.values()].filter((document) => document.name !== name);
  await deleteStored(deps, owner, outdated, signal);
  return { etag: file.etag, lastModified: file.lastModified };
}

async function readPublicFile(
  { publicFiles }: Pick<ReadSourceDeps, "publicFiles">,
  url: string,
  known: Pick<ClaimedSource["source"], "etag" | "lastModified"> | null,
  signal: AbortSignal,
) {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  const { etag = null, lastModified = null } = known ?? {};
  const maxBytes = DOCUMENT_LIMITS.fileBytes;
  try {
    return await publicFiles.read(url, { etag, lastModified, maxBytes, signal: AbortSignal.any([signal, timeout]) });
  } catch (error) {
    signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new ServiceError("invalid", `The file did not arrive within ${TIMEOUT_MS / 1000} seconds.`, { cause: error });
  }
}

/** Media types that say nothing about what is in a file, so that its name decides. */
const UNSPECIFIC: readonly (string | null)[] = [null, "application/octet-stream", "binary/octet-stream", "text/plain"];

/** The end of the name of a file, by its media type. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(DOCUMENT_TYPES).map(([extension, type]) => [type, extension])),
  [DOCUMENT_TYPES.markdown]: "md",
  [DOCUMENT_TYPES.text]: "txt",
  "text/x-markdown": "md",
  "text/tab-separated-values": "tsv",
  "application/xhtml+xml": "html",
};

/**
 * Names the document of a URL after its host and path. The end of the name says how it is read.
 *
 * @throws {ServiceError} `invalid` for a type that is not read
 */
export function nameFile(url: string, mediaType: string | null): string {
  const { host, pathname, search } = new URL(url);
  const path = decodeName(`${host}${pathname.replace(/\/+$/, "")}${search}`);
  const given = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? "";
  const isNamed = UNSPECIFIC.includes(mediaType) && DOCUMENT_EXTENSIONS.some((extension) => extension === given);
  const extension = isNamed ? given : EXTENSIONS[mediaType ?? ""];
  if (extension === undefined) {
    const type =
      mediaType === null ? "states no type" : `states the type ${mediaType.slice(0, 100)}, which is not read`;
    throw new ServiceError("invalid", `The host of the URL ${type}.`);
  }
  if (given === extension && path.length <= DOCUMENT_LIMITS.fileNameLength) return path;
  return `${path.slice(0, DOCUMENT_LIMITS.fileNameLength - extension.length - 1).trim()}.${extension}`;
}

/** Returns the name as people read it, if it can be decoded and is one line. */
function decodeName(name: string): string {
  try {
    const decoded = decodeURI(name);
    return isPlainLine(decoded, Infinity) ? decoded : name;
  } catch {
    return name;
  }
}
