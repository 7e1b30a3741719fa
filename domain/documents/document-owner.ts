import type { Db } from "../database-types.ts";
import type { ScopeKey } from "../search/search-scope.ts";

/** What documents belong to: a project, or the Company Knowledge of the organization. */
export interface DocumentOwner {
  orgId: string;
  /** `null` for Company Knowledge. */
  projectId: string | null;
}

/** The part of the search index with the passages of an owner. */
export function scopeOf({ orgId, projectId }: DocumentOwner): ScopeKey {
  return projectId === null
    ? { orgId, kind: "knowledge", ownerId: orgId }
    : { orgId, kind: "project", ownerId: projectId };
}

/** Selects the documents of an owner. */
export function selectDocuments(db: Db, { orgId, projectId }: DocumentOwner) {
  return db
    .selectFrom("documents as document")
    .where("document.org_id", "=", orgId)
    .where((where) =>
      projectId === null ? where("document.project_id", "is", null) : where("document.project_id", "=", projectId),
    );
}
