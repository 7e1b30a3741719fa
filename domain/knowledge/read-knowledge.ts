import type { Db } from "../database-types.ts";
import {
  type DocumentDetail,
  type DocumentPage,
  getDocument,
  type ListDocuments,
  listDocuments,
  listVersions,
} from "../documents/read-documents.ts";
import type { DocumentVersionView } from "../documents/document-view.ts";
import type { Caller } from "../shared/caller.ts";
import { RESPONSE_CHARACTERS } from "../shared/response-budget.ts";
import { knowledgeOf } from "./company-knowledge.ts";

export interface ReadKnowledgeDeps {
  db: Db;
}

/** Of a part of a document for an agent: room for the other fields. */
const PART_CHARACTERS = RESPONSE_CHARACTERS - 2000;
/** Of a part of a document over REST. */
const MAX_CHARACTERS = 1024 * 1024;

/** Lists the documents of Company Knowledge by title. @throws {ServiceError} `invalid` for an invalid cursor */
export function listKnowledge(
  { db }: ReadKnowledgeDeps,
  caller: Caller,
  request: ListDocuments,
): Promise<DocumentPage> {
  return listDocuments(db, knowledgeOf(caller), request);
}

export interface GetKnowledge {
  id: string;
  version?: number | undefined;
  offset?: number | undefined;
}

/** Returns a document, in parts when it is longer than one MiB. @throws {ServiceError} `not_found` */
export function getKnowledge(
  { db }: ReadKnowledgeDeps,
  caller: Caller,
  request: GetKnowledge,
): Promise<DocumentDetail> {
  return getDocument(db, knowledgeOf(caller), { ...request, maxCharacters: MAX_CHARACTERS });
}

export type KnowledgePart = Pick<
  DocumentDetail,
  | "document_id"
  | "title"
  | "kind"
  | "version"
  | "updated_at"
  | "content"
  | "offset"
  | "next_offset"
  | "total_characters"
>;

/** Returns a document for an agent, in parts when it is long. @throws {ServiceError} `not_found` */
export async function readKnowledge(
  { db }: ReadKnowledgeDeps,
  caller: Caller,
  { document_id: id, offset }: { document_id: string; offset?: number | undefined },
): Promise<KnowledgePart> {
  const detail = await getDocument(db, knowledgeOf(caller), { id, offset, maxCharacters: PART_CHARACTERS });
  const { document_id, title, kind, version, updated_at, content, next_offset, total_characters } = detail;
  return {
    document_id,
    title,
    kind,
    version,
    updated_at,
    content,
    offset: detail.offset,
    next_offset,
    total_characters,
  };
}

/** Lists the kept versions of a document, the newest first. @throws {ServiceError} `not_found` */
export function listKnowledgeVersions(
  { db }: ReadKnowledgeDeps,
  caller: Caller,
  id: string,
): Promise<{ versions: DocumentVersionView[] }> {
  return listVersions(db, knowledgeOf(caller), id);
}
