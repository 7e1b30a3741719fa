import type { Db } from "../database-types.ts";
import type { ScopeKey } from "../search/search-scope.ts";
import { ServiceError } from "../shared/errors.ts";

/** What documents belong to: a project, or the Company Knowledge of the organization. */
export interface DocumentOwner {
  orgId: string;
  /** `null` for Company Knowledge. */
  projectId: string | null;
  /** Set while a job reads a source: it writes the documents of this source only. Absent for people, who write all others. */
  source?: SourceRun;
}

/** One reading of a source. The number is a fencing token: a reading that is not the newest one writes nothing. */
export interface SourceRun {
  id: string;
  run: number;
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

/** Returns `false` for a project that the organization does not have. */
export async function ownerExists(db: Db, { orgId, projectId }: DocumentOwner): Promise<boolean> {
  if (projectId === null) return true;
  const projects = db.selectFrom("projects").select("id").where("id", "=", projectId).where("org_id", "=", orgId);
  return (await projects.executeTakeFirst()) !== undefined;
}

/** The same error for a project that never existed, for any of another organization, and for one that is not mounted on the agent. */
export function projectNotFound(): ServiceError {
  return new ServiceError("not_found", "Project not found. projects_list lists the projects of an agent.");
}
