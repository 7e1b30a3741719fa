import { type Api, sendJson } from "../../api.ts";
import { type PageOrganization, useOrganization } from "../../organization.ts";
import { type SentFile } from "../../ui/read-file.ts";
import { knowledgeKey } from "../knowledge/kinds.ts";
import { projectKey } from "../projects/project-queries.ts";

export type DocumentPage = Awaited<ReturnType<Api["knowledge"]["list"]["query"]>>;
export type DocumentSummary = DocumentPage["documents"][number];
export type DocumentDetail = Awaited<ReturnType<Api["knowledge"]["get"]["query"]>>;
export type ChangedDocument = Awaited<ReturnType<Api["knowledge"]["change"]["mutate"]>>;
export type DocumentVersionList = Awaited<ReturnType<Api["knowledge"]["versions"]["query"]>>;

/** What the user sends as a document. */
export interface SentDocument {
  /** For Company Knowledge only. */
  kind?: string;
  title?: string;
  content?: string;
  file?: SentFile;
}

/** Company Knowledge, or the documents of a project. */
export interface DocumentSet {
  /** The beginning of the keys of all queries about the documents. */
  key: readonly string[];
  hasKinds: boolean;
  list: (cursor: string | null) => Promise<DocumentPage>;
  /** Returns a document with its whole text. `null` is the current version. */
  get: (id: string, version: number | null) => Promise<DocumentDetail>;
  versions: (id: string) => Promise<DocumentVersionList>;
  restore: (id: string, number: number) => Promise<unknown>;
  remove: (id: string) => Promise<unknown>;
  add: (document: SentDocument) => Promise<ChangedDocument>;
  change: (id: string, document: SentDocument) => Promise<ChangedDocument>;
  /** The path of the page of a document. */
  pathOf: (id: string) => string;
}

const PAGE_SIZE = 100;

export function useCompanyKnowledge(): DocumentSet {
  const { id: orgId, api } = useOrganization();
  return {
    key: knowledgeKey(orgId),
    hasKinds: true,
    list: (cursor) => api.knowledge.list.query({ limit: PAGE_SIZE, ...(cursor !== null && { cursor }) }),
    get: (id, version) => readWhole(version, (part) => api.knowledge.get.query({ id, ...part })),
    versions: (id) => api.knowledge.versions.query({ id }),
    restore: (id, number) => api.knowledge.restore.mutate({ id, number }),
    remove: (id) => api.knowledge.delete.mutate({ id }),
    add: (document) => sendJson(orgId, "POST", "/v1/knowledge/documents", document),
    change: (id, document) => sendJson(orgId, "PATCH", `/v1/knowledge/documents/${id}`, document),
    pathOf: (id) => `/knowledge/${id}`,
  };
}

export function useProjectDocuments(projectId: string): DocumentSet {
  return projectDocuments(useOrganization(), projectId);
}

function projectDocuments({ id: orgId, api }: PageOrganization, id: string): DocumentSet {
  const { projectDocuments: calls } = api;
  const path = `/v1/projects/${id}/documents`;
  return {
    // A document changes the search and the counts of its project.
    key: projectKey(orgId, id),
    hasKinds: false,
    list: (cursor) => calls.list.query({ id, limit: PAGE_SIZE, ...(cursor !== null && { cursor }) }),
    get: (document_id, version) => readWhole(version, (part) => calls.get.query({ id, document_id, ...part })),
    versions: (document_id) => calls.versions.query({ id, document_id }),
    restore: (document_id, number) => calls.restore.mutate({ id, document_id, number }),
    remove: (document_id) => calls.delete.mutate({ id, document_id }),
    add: (document) => sendJson(orgId, "POST", path, document),
    change: (documentId, document) => sendJson(orgId, "PATCH", `${path}/${documentId}`, document),
    pathOf: (documentId) => `/projects/${id}/documents/${documentId}`,
  };
}

interface Part {
  version?: number;
  offset?: number;
}

/** The service returns a long text in parts. */
async function readWhole(
  version: number | null,
  read: (part: Part) => Promise<DocumentDetail>,
): Promise<DocumentDetail> {
  const first = await read(version === null ? {} : { version });
  let { content, next_offset: offset } = first;
  while (offset !== null) {
    // Of the same version, which may no longer be the current one.
    const part = await read({ version: first.version, offset });
    content += part.content;
    offset = part.next_offset;
  }
  return { ...first, content, next_offset: null };
}
