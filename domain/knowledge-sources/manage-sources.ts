import type { EntityManager } from "@mikro-orm/core";
import { type Db, queryBuilderOf } from "../database-types.ts";
import type { DocumentKind } from "../documents/document-kind.ts";
import type { DocumentLanguage } from "../documents/passage-languages.ts";
import { type FindGitAccessDeps, resolveHost } from "../git-connections/find-git-access.ts";
import type { JobQueue } from "../ports/job-queue.ts";
import type { Caller } from "../shared/caller.ts";
import { ServiceError } from "../shared/errors.ts";
import { isUuid } from "../shared/ids.ts";
import { inLockedTransaction, inTransaction } from "../shared/transaction.ts";
import { KnowledgeSource } from "./knowledge-source.entity.ts";
import { checkLocation, type GivenLocation, nextCheck, SOURCE_LIMITS, sourceNotFound } from "./source-rules.ts";
import { findSource, findSources, type SourceDetail, type SourceSummary } from "./source-view.ts";

export interface ManageSourcesDeps extends FindGitAccessDeps {
  em: EntityManager;
  db: Db;
  jobs: JobQueue;
}

export interface AddSource extends GivenLocation {
  kind: DocumentKind;
  language?: DocumentLanguage | undefined;
}

/**
 * Adds a source to Company Knowledge and queues its first reading. Both commit together.
 *
 * @throws {ServiceError} `invalid` for a location that is not allowed; `conflict` when the organization has it already, or has too
 *   many sources
 */
export async function addSource(
  deps: FindGitAccessDeps & Pick<ManageSourcesDeps, "em" | "jobs">,
  { orgId, userId }: Caller,
  { kind, language = "auto", ...given }: AddSource,
): Promise<SourceDetail> {
  const { em: root, jobs } = deps;
  const location = checkLocation(given);
  const { repo: wanted } = location;
  const gitHost = wanted === null ? null : await resolveHost(deps, { orgId, repo: wanted }, given.host);
  return inLockedTransaction(root, [`knowledge sources ${orgId}`], async (em) => {
    const others = await findSources(queryBuilderOf(em), orgId);
    const same = others.find(
      ({ url, repo, host, branch, path }) =>
        url === location.url &&
        repo === location.repo &&
        host === gitHost &&
        branch === location.branch &&
        (path ?? "") === location.path,
    );
    if (same !== undefined)
      throw new ServiceError("conflict", `The source ${same.source_id} has this location. Refresh it instead.`);
    const { sourcesOfOrganization } = SOURCE_LIMITS;
    if (others.length >= sourcesOfOrganization)
      throw new ServiceError(
        "conflict",
        `An organization can have at most ${sourcesOfOrganization} sources. Delete sources that are not needed any more.`,
      );
    const source = em.create(KnowledgeSource, {
      ...{ orgId, kind, language, ...location, gitHost, status: "queued", skipped: [] },
      ...{ nextCheckAt: nextCheck(new Date()), createdBy: userId },
    });
    await em.flush();
    await jobs.enqueue(em, "source", { sourceId: source.id, orgId });
    return findSource(queryBuilderOf(em), orgId, source.id);
  });
}

/** Lists the sources of Company Knowledge, the newest first. */
export async function listSources(
  { db }: Pick<ManageSourcesDeps, "db">,
  { orgId }: Caller,
): Promise<{ sources: SourceSummary[] }> {
  return { sources: await findSources(db, orgId) };
}

/** Returns a source with the files that are not stored. @throws {ServiceError} `not_found` */
export function getSource({ db }: Pick<ManageSourcesDeps, "db">, { orgId }: Caller, id: string): Promise<SourceDetail> {
  return findSource(db, orgId, id);
}

/** Queues a reading of a source, unless one is waiting or running. @throws {ServiceError} `not_found` */
export async function refreshSource(
  { em: root, db, jobs }: Pick<ManageSourcesDeps, "db" | "em" | "jobs">,
  { orgId }: Caller,
  id: string,
): Promise<SourceDetail> {
  await findSource(db, orgId, id);
  return inTransaction(root, async (em) => {
    const ended = { id, orgId, status: { $in: ["ready", "failed"] as const } };
    const changed = await em.nativeUpdate(KnowledgeSource, ended, { status: "queued" });
    if (changed > 0) await jobs.enqueue(em, "source", { sourceId: id, orgId });
    return findSource(queryBuilderOf(em), orgId, id);
  });
}

/**
 * Marks a source as deleted and queues the removal of its documents. No reading of it writes anything from then on.
 *
 * @throws {ServiceError} `not_found`
 */
export async function markDeleted(
  { em: root, jobs }: Pick<ManageSourcesDeps, "em" | "jobs">,
  { orgId }: Caller,
  id: string,
): Promise<void> {
  if (!isUuid(id)) throw sourceNotFound();
  await inTransaction(root, async (em) => {
    const source = await em.findOne(KnowledgeSource, { id, orgId, status: { $ne: "deleting" } });
    if (source === null) throw sourceNotFound();
    source.status = "deleting";
    source.run += 1;
    await em.flush();
    await jobs.enqueue(em, "source", { sourceId: id, orgId });
  });
}

/**
 * Queues a reading of each source whose time has come, whatever became of the last one.
 *
 * @returns how many are queued
 */
export async function enqueueDueSources({ em: root, jobs }: Pick<ManageSourcesDeps, "em" | "jobs">): Promise<number> {
  return inTransaction(root, async (em) => {
    const now = new Date();
    const due = await queryBuilderOf(em)
      .selectFrom("knowledge_sources")
      .select(["id", "org_id", "status"])
      .where("next_check_at", "<=", now)
      .orderBy("next_check_at")
      .limit(MAX_DUE)
      .forUpdate()
      .skipLocked()
      .execute();
    for (const { id, org_id: orgId, status } of due) {
      const next = status === "deleting" ? {} : { status: "queued" as const };
      await em.nativeUpdate(KnowledgeSource, { id }, { ...next, nextCheckAt: nextCheck(now) });
      await jobs.enqueue(em, "source", { sourceId: id, orgId });
    }
    return due.length;
  });
}

/** A sweep every ten minutes queues at most so many sources. */
const MAX_DUE = 500;
