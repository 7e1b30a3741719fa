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

/**
 * Returns a document, in parts when it is longer than one MiB, or than fits into a response for an agent.
 *
 * @throws {ServiceError} `not_found`
 */
export function getKnowledge(
  { db }: ReadKnowledgeDeps,
  caller: Caller,
  request: GetKnowledge,
  isForAgent: boolean,
): Promise<DocumentDetail> {
  const maxCharacters = isForAgent ? PART_CHARACTERS : MAX_CHARACTERS;
  return getDocument(db, knowledgeOf(caller), { ...request, maxCharacters });
}

/** Lists the kept versions of a document, the newest first. @throws {ServiceError} `not_found` */
export function listKnowledgeVersions(
  { db }: ReadKnowledgeDeps,
  caller: Caller,
  id: string,
): Promise<{ versions: DocumentVersionView[] }> {
  return listVersions(db, knowledgeOf(caller), id);
}
