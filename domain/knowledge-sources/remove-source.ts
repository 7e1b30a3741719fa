import { KnowledgeSource } from "./knowledge-source.entity.ts";
import { inTransaction } from "../shared/transaction.ts";
import type { ClaimedSource, ReadSourceDeps } from "./read-source.ts";
import { deleteStored } from "./store-file.ts";

/** Deletes the documents of a source, and the source last. @throws {SourceRunEnded} */
export async function removeSource(
  deps: Pick<ReadSourceDeps, "db" | "em" | "textWorkers">,
  { source, owner }: ClaimedSource,
  signal: AbortSignal,
): Promise<void> {
  const documents = await deps.db.selectFrom("documents").select("id").where("source_id", "=", source.id).execute();
  await deleteStored(deps, owner, documents, signal);
  await inTransaction(deps.em, (em) => em.nativeDelete(KnowledgeSource, { id: source.id, run: owner.source.run }));
}
