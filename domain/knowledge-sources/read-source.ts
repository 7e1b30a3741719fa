import type { DocumentOwner } from "../documents/document-owner.ts";
import type { WriteDocumentDeps } from "../documents/write-document.ts";
import type { DocumentReader } from "../ports/document-reader.ts";
import type { PublicFiles } from "../ports/public-files.ts";
import type { TemporaryWorkspaces } from "../ports/temporary-workspaces.ts";
import type { CheckOutRepositoryDeps } from "../git-connections/check-out-repository.ts";
import type { ReadBranchTipDeps } from "../git-connections/read-branch-tip.ts";
import type { Db } from "../database-types.ts";
import type { KnowledgeSource, SkippedFile } from "./knowledge-source.entity.ts";

export interface ReadSourceDeps extends WriteDocumentDeps, CheckOutRepositoryDeps, ReadBranchTipDeps {
  db: Db;
  documentReader: DocumentReader;
  publicFiles: PublicFiles;
  workspaces: TemporaryWorkspaces;
}

/** A reading of a source that a job has claimed. */
export interface ClaimedSource {
  source: KnowledgeSource;
  owner: DocumentOwner & { source: NonNullable<DocumentOwner["source"]> };
}

/** What a source is after a reading. Fields that are absent stay as they are. */
export interface SourceOutcome {
  commit?: string | null;
  etag?: string | null;
  lastModified?: string | null;
  skipped?: SkippedFile[];
  skippedCount?: number;
  leftOut?: number;
}
