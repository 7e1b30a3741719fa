import type { Selectable } from "kysely";
import type { DatabaseTables, Db } from "../database-types.ts";
import type { DocumentKind } from "../documents/document-kind.ts";
import type { DocumentLanguage } from "../documents/passage-languages.ts";
import { isUuid } from "../shared/ids.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import type { SkippedFile, SourceStatus } from "./knowledge-source.entity.ts";
import { type SourceLocation, sourceNotFound } from "./source-rules.ts";

export interface SourceSummary extends Omit<SourceLocation, "path"> {
  source_id: string;
  type: "url" | "repository";
  /** The folder in the repository; `null` for all of it, and for a URL. */
  path: string | null;
  kind: DocumentKind;
  language: DocumentLanguage;
  status: Exclude<SourceStatus, "deleting">;
  /** Why the last reading failed; `null` if it did not. */
  error: string | null;
  document_count: number;
  /** How many files are not stored although documents of their type are read. */
  skipped_count: number;
  /** How many files are hidden, or of types that are not read. */
  left_out: number;
  /** Of the last reading that stored all files. */
  commit: string | null;
  last_checked_at: string | null;
  next_check_at: string;
  created_by: string | null;
  created_at: string;
}

export interface SourceDetail extends SourceSummary {
  /** The first of the files that are not stored, with the reason. */
  skipped: SkippedFile[];
}

type SourceRow = Selectable<DatabaseTables["knowledge_sources"]> & { document_count: string | null };

/** Selects the sources of an organization that are not being deleted. */
function selectSources(db: Db, orgId: string) {
  return db
    .selectFrom("knowledge_sources as source")
    .selectAll("source")
    .select(({ selectFrom }) =>
      selectFrom("documents")
        .select(({ fn }) => fn.countAll<string>().as("count"))
        .whereRef("documents.source_id", "=", "source.id")
        .as("document_count"),
    )
    .where("source.org_id", "=", orgId)
    .where("source.status", "!=", "deleting");
}

/** Returns the sources of an organization, the newest first. */
export async function findSources(db: Db, orgId: string): Promise<SourceSummary[]> {
  const rows = await selectSources(db, orgId).orderBy("source.created_at", "desc").orderBy("source.id").execute();
  return rows.map((row) => toSummary(row));
}

/** @throws {ServiceError} `not_found` */
export async function findSource(db: Db, orgId: string, id: string): Promise<SourceDetail> {
  const row = isUuid(id) ? await selectSources(db, orgId).where("source.id", "=", id).executeTakeFirst() : undefined;
  if (row === undefined) throw sourceNotFound();
  return { ...toSummary(row), skipped: row.skipped };
}

function toSummary(row: SourceRow): SourceSummary {
  return {
    source_id: row.id,
    type: row.url === null ? "repository" : "url",
    url: row.url,
    repo: row.repo,
    host: row.git_host,
    branch: row.branch,
    path: row.path === "" ? null : row.path,
    kind: row.kind,
    language: row.language,
    status: row.status as SourceSummary["status"],
    error: row.error,
    document_count: Number(row.document_count),
    skipped_count: row.skipped_count,
    left_out: row.left_out,
    commit: row.commit,
    last_checked_at: row.last_checked_at === null ? null : toIsoTimestamp(row.last_checked_at),
    next_check_at: toIsoTimestamp(row.next_check_at),
    created_by: row.created_by,
    created_at: toIsoTimestamp(row.created_at),
  };
}
