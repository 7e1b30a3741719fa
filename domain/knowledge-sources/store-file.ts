import { deleteDocument } from "../documents/delete-document.ts";
import { readFile } from "../documents/read-content.ts";
import { storeDocument } from "../documents/write-document.ts";
import { ServiceError } from "../shared/errors.ts";
import type { ClaimedSource, ReadSourceDeps } from "./read-source.ts";

/** A document of a source, as the last reading left it. */
export interface StoredFile {
  id: string;
  name: string;
  /** The SHA-256 of the file, in hex. */
  hash: string | null;
}

/** Returns the documents of a source by the names of their files. */
export async function listStored(
  { db }: Pick<ReadSourceDeps, "db">,
  { source }: ClaimedSource,
): Promise<Map<string, StoredFile>> {
  const rows = await db
    .selectFrom("documents")
    .select(["id", "file_name", "source_hash"])
    .where("source_id", "=", source.id)
    .execute();
  return new Map(
    rows.map(({ id, file_name: name, source_hash: hash }) => [name ?? "", { id, name: name ?? "", hash }]),
  );
}

/**
 * Reads a file of a source and stores it as a document, in one transaction.
 *
 * @throws {ServiceError} `invalid`, `plan_limit` and `unavailable` as `storeDocument` does
 * @throws {SourceRunEnded}
 */
export async function storeFile(
  deps: ReadSourceDeps,
  { source, owner }: ClaimedSource,
  { hash: sourceHash, ...file }: { name: string; bytes: Uint8Array; hash: string },
  signal: AbortSignal,
): Promise<void> {
  const { kind, language } = source;
  const content = await readFile(deps.documentReader, file, { orgId: owner.orgId, signal });
  const fields = { kind, language, title: content.title ?? undefined };
  await storeDocument(deps, owner, { userId: null, content: { ...content, sourceHash }, fields });
}

/** Deletes documents of a source. One that is deleted already changes nothing. @throws {SourceRunEnded} */
export async function deleteStored(
  deps: Pick<ReadSourceDeps, "em" | "textWorkers">,
  owner: ClaimedSource["owner"],
  documents: readonly Pick<StoredFile, "id">[],
  signal: AbortSignal,
): Promise<void> {
  for (const { id } of documents) {
    signal.throwIfAborted();
    await deleteDocument(deps, owner, id).catch((error: unknown) => {
      if (!(error instanceof ServiceError && error.code === "not_found")) throw error;
    });
  }
}
