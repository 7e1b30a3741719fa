import type { Selectable } from "kysely";
import type { DatabaseTables } from "../database-types.ts";
import type { DocumentType } from "../ports/document-reader.ts";
import type { DocumentLanguage } from "./passage-languages.ts";
import { toIsoTimestamp } from "../shared/iso-timestamp.ts";
import type { DocumentKind } from "./document-kind.ts";

export interface DocumentSummary {
  document_id: string;
  title: string;
  /** `null` for a document of a project. */
  kind: DocumentKind | null;
  language: DocumentLanguage;
  /** The name of the file that was uploaded last; `null` for a document that was written. */
  file_name: string | null;
  /** The source from which the document is read; `null` for a document of people. */
  source_id: string | null;
  /** The number of the current version. */
  version: number;
  created_by: string | null;
  updated_by: string | null;
  created_at: string;
  updated_at: string;
}

export interface DocumentVersionView {
  number: number;
  /** The SHA-256 of the text in UTF-8, in hex. */
  content_hash: string;
  /** The version whose text this one restored; `null` for any other version. */
  restored: number | null;
  file_name: string | null;
  media_type: DocumentType;
  /** Of the uploaded file, or of the written text. */
  size_bytes: number;
  created_by: string | null;
  created_at: string;
}

export function toDocumentSummary(row: Selectable<DatabaseTables["documents"]>): DocumentSummary {
  return {
    document_id: row.id,
    title: row.title,
    kind: row.kind,
    language: row.language,
    file_name: row.file_name,
    source_id: row.source_id,
    version: row.version,
    created_by: row.created_by,
    updated_by: row.updated_by,
    created_at: toIsoTimestamp(row.created_at),
    updated_at: toIsoTimestamp(row.updated_at),
  };
}

type VersionRow = Omit<Selectable<DatabaseTables["document_versions"]>, "content" | "content_bytes" | "document_id">;

export function toVersionView(row: VersionRow): DocumentVersionView {
  return {
    number: row.number,
    content_hash: row.content_hash,
    restored: row.restored,
    file_name: row.file_name,
    media_type: row.media_type,
    size_bytes: row.size_bytes,
    created_by: row.created_by,
    created_at: toIsoTimestamp(row.created_at),
  };
}
