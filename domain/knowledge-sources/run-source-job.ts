import { SourceRunEnded } from "../documents/document-state.ts";
import { INTERNAL_ERROR, ServiceError } from "../shared/errors.ts";
import { inTransaction, runForOrganization } from "../shared/transaction.ts";
import { toPlainText } from "../shared/plain-text.ts";
import { KnowledgeSource } from "./knowledge-source.entity.ts";
import { readRepository } from "./read-repository.ts";
import type { ClaimedSource, ReadSourceDeps, SourceOutcome } from "./read-source.ts";
import { readUrl } from "./read-url.ts";
import { removeSource } from "./remove-source.ts";
import { nextCheck } from "./source-rules.ts";

/**
 * Reads a source and makes its documents follow it, or removes a source that is deleted. Each document is changed in a
 * transaction of its own, and documents are deleted last, so a job that is killed is repeated from where it was. Another job of the same
 * source ends this one: it writes nothing more.
 *
 * A source that cannot be read keeps its documents and says why.
 *
 * @throws an internal error, and the reason of the signal when it is aborted; the job is then repeated
 */
export async function runSourceJob(deps: ReadSourceDeps, sourceId: string, signal: AbortSignal): Promise<void> {
  const claimed = await claimSource(deps, sourceId);
  if (claimed === null) return;
  await runForOrganization(claimed.owner.orgId, async () => {
    try {
      if (claimed.source.status === "deleting") await removeSource(deps, claimed, signal);
      else await readClaimed(deps, claimed, signal);
    } catch (error) {
      // The source has been deleted, or another job reads it.
      if (!(error instanceof SourceRunEnded)) throw error;
    }
  });
}

/** Raises the number of the source, which ends its other job. Returns `null` for a source that does not exist. */
async function claimSource({ em: root }: Pick<ReadSourceDeps, "em">, id: string): Promise<ClaimedSource | null> {
  return inTransaction(root, async (em) => {
    // Waits for the transaction of another job that is changing a document.
    const [row] = await em.execute<{ id: string }[]>(
      "update knowledge_sources set run = run + 1, status = case status when 'deleting' then status else 'reading' end where id = ? returning id",
      [id],
    );
    if (row === undefined) return null;
    const source = await em.findOneOrFail(KnowledgeSource, { id });
    const { orgId, run } = source;
    return { source, owner: { orgId, projectId: null, source: { id, run } } };
  });
}

async function readClaimed(deps: ReadSourceDeps, claimed: ClaimedSource, signal: AbortSignal): Promise<void> {
  const { url, repo } = claimed.source;
  try {
    const outcome =
      typeof url === "string"
        ? await readUrl(deps, claimed, url, signal)
        : await readRepository(deps, claimed, repo ?? "", signal);
    await finish(deps, claimed, { ...outcome, status: "ready", error: null });
  } catch (error) {
    if (error instanceof SourceRunEnded || signal.aborted) throw error;
    const message = error instanceof ServiceError ? toPlainText(error.message) : INTERNAL_ERROR;
    await finish(deps, claimed, { status: "failed", error: message });
    if (!(error instanceof ServiceError)) throw error;
  }
}

/** Records the end of a reading, unless another one has begun. */
async function finish(
  { em: root }: Pick<ReadSourceDeps, "em">,
  { owner: { source } }: ClaimedSource,
  outcome: SourceOutcome & Pick<KnowledgeSource, "status" | "error">,
): Promise<void> {
  const now = new Date();
  await inTransaction(root, (em) =>
    em.nativeUpdate(
      KnowledgeSource,
      { id: source.id, run: source.run, status: "reading" },
      { ...outcome, lastCheckedAt: now, nextCheckAt: nextCheck(now) },
    ),
  );
}
