import { findPathProblem, isDocumentFile, isHiddenFile } from "../documents/archive-files.ts";
import { DOCUMENT_LIMITS } from "../documents/document-limits.ts";
import type { SourceFile, Workspace } from "../ports/temporary-workspaces.ts";
import { checkOutRepository } from "../git-connections/check-out-repository.ts";
import type { WantedRepository } from "../git-connections/find-git-access.ts";
import { readBranchTip } from "../git-connections/read-branch-tip.ts";
import { BuildFailure, ServiceError } from "../shared/errors.ts";
import { sha256Hex } from "../shared/sha256.ts";
import type { KnowledgeSource, SkippedFile } from "./knowledge-source.entity.ts";
import type { ClaimedSource, ReadSourceDeps, SourceOutcome } from "./read-source.ts";
import { SOURCE_LIMITS } from "./source-rules.ts";
import { deleteStored, listStored, type StoredFile, storeFile } from "./store-file.ts";

const MEBIBYTE = 1024 * 1024;
const TIMEOUT_SECONDS = 300;

/**
 * Reads the documents in the folder of a repository. A file that cannot be stored does not stop the others, and its document of
 * an earlier reading stays.
 *
 * @throws {ServiceError} when the repository cannot be read, has no documents, or too many
 */
export async function readRepository(
  deps: ReadSourceDeps,
  claimed: ClaimedSource,
  repo: string,
  signal: AbortSignal,
): Promise<SourceOutcome> {
  const { source, owner } = claimed;
  const workspace = await deps.workspaces.open(source.id, owner.source.run);
  try {
    const { branch = null, gitHost: host = null } = source;
    const wanted = { orgId: owner.orgId, repo, host };
    if (await isUnchanged(deps, workspace, source, { ...wanted, signal })) return {};
    const checkout = { ...wanted, branch, timeoutSeconds: TIMEOUT_SECONDS, signal };
    const commit = await checkOutRepository(deps, workspace, checkout);
    if (commit === source.commit) return {};
    const { files, leftOut } = await listFiles(workspace, source.path);
    const stored = await listStored(deps, claimed);
    const { skipped, isComplete } = await storeFiles(deps, claimed, { files, stored }, signal);
    const names = new Set(files.map(({ path }) => path));
    const removed = [...stored.values()].filter(({ name }) => !names.has(name));
    await deleteStored(deps, owner, removed, signal);
    return {
      commit: isComplete ? commit : null,
      skipped: skipped.slice(0, SOURCE_LIMITS.skippedFiles),
      skippedCount: skipped.length,
      leftOut,
    };
  } finally {
    await workspace.remove();
  }
}

/** Whether the newest commit is the one whose files are stored. Otherwise, a checkout finds out, and has the error. */
async function isUnchanged(
  deps: ReadSourceDeps,
  workspace: Workspace,
  { commit: stored = null, branch = null }: Pick<KnowledgeSource, "commit" | "branch">,
  { signal, ...wanted }: WantedRepository & { signal: AbortSignal },
): Promise<boolean> {
  if (stored === null) return false;
  try {
    const tip = { ...wanted, branch: branch ?? "main", signal };
    return (await readBranchTip(deps, workspace, tip)) === stored;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof BuildFailure) return false;
    throw error;
  }
}

/** A document in the folder. */
interface FoundFile extends SourceFile {
  /** The SHA-256 of the file, in hex. */
  hash: string;
}

/**
 * Lists the documents in the folder, as the upload of a folder selects them. Links are left out, also those on the way to the
 * folder.
 */
async function listFiles(workspace: Workspace, folder: string): Promise<{ files: FoundFile[]; leftOut: number }> {
  const prefix = folder === "" ? "" : `${folder}/`;
  const place = folder === "" ? "The branch" : `The folder "${folder}" of the branch`;
  const files: FoundFile[] = [];
  let leftOut = 0;
  let room: number = SOURCE_LIMITS.totalBytes;
  for await (const { path, read } of workspace.sourceFiles()) {
    if (!path.startsWith(prefix)) continue;
    const name = path.slice(prefix.length);
    if (isHiddenFile(name) || !isDocumentFile(name)) {
      leftOut++;
      continue;
    }
    const bytes = await read();
    // A larger file is skipped.
    if (bytes.length <= DOCUMENT_LIMITS.fileBytes) room -= bytes.length;
    files.push({ path: name, read, hash: sha256Hex(bytes) });
    if (room < 0) throw tooMuch(place, `more than ${SOURCE_LIMITS.totalBytes / MEBIBYTE} MiB of documents`);
    if (files.length > SOURCE_LIMITS.files) throw tooMuch(place, `more than ${SOURCE_LIMITS.files} documents`);
  }
  if (files.length > 0) return { files, leftOut };
  throw new ServiceError("invalid", `${place} does not exist or has no documents.`);
}

function tooMuch(place: string, what: string): ServiceError {
  return new ServiceError(
    "invalid",
    `${place} has ${what}, which is the limit of a source. Add its folders as sources.`,
  );
}

interface FilesToStore {
  files: readonly FoundFile[];
  stored: ReadonlyMap<string, StoredFile>;
}

/** @returns the files that are not stored, and whether another reading of the same files would store no more */
async function storeFiles(
  deps: ReadSourceDeps,
  claimed: ClaimedSource,
  { files, stored }: FilesToStore,
  signal: AbortSignal,
): Promise<{ skipped: SkippedFile[]; isComplete: boolean }> {
  const skipped: SkippedFile[] = [];
  let isComplete = true;
  for (const { path: name, read, hash } of files) {
    signal.throwIfAborted();
    const problem = findPathProblem(name);
    if (problem !== null) skipped.push({ file: name, error: `The file ${problem}` });
    if (problem !== null || stored.get(name)?.hash === hash) continue;
    try {
      await storeFile(deps, claimed, { name, bytes: await read(), hash }, signal);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (error.code !== "invalid") isComplete = false;
      skipped.push({ file: name, error: error.message });
    }
  }
  return { skipped, isComplete };
}
