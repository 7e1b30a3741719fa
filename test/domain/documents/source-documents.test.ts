import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { SourceRunEnded } from "../../../domain/documents/document-state.ts";
import type { DocumentOwner } from "../../../domain/documents/document-owner.ts";
import { deleteDocument } from "../../../domain/documents/delete-document.ts";
import { getDocument, listDocuments } from "../../../domain/documents/read-documents.ts";
import { storeDocument, type WrittenDocument } from "../../../domain/documents/write-document.ts";
import { KnowledgeSource } from "../../../domain/knowledge-sources/knowledge-source.entity.ts";
import { sharedHarness } from "../../support/service/shared-harness.ts";

const service = sharedHarness();

/** Creates a source that a job is reading. */
async function givenSource(): Promise<DocumentOwner & { source: { id: string; run: number } }> {
  const em = service().service.parts.orm.em.fork();
  const orgId = randomUUID();
  const source = em.create(KnowledgeSource, {
    ...{ orgId, kind: "faq", language: "auto", repo: "acme/site", path: "", status: "reading", run: 1 },
    ...{ skipped: [], nextCheckAt: new Date() },
  });
  await em.flush();
  return { orgId, projectId: null, source: { id: source.id, run: 1 } };
}

const store = (owner: DocumentOwner, text: string): Promise<WrittenDocument> => {
  const content = { text, title: null, fileName: "a.md", mediaType: "text/markdown", sizeBytes: 1 } as const;
  const fields = { kind: "faq", language: "auto" } as const;
  return storeDocument(service().service.parts.service, owner, { userId: null, content, fields });
};

test("a job writes and deletes nothing once another job reads its source, or the source is deleted", async () => {
  const { service: deps, db, orm } = service().service.parts;
  const owner = await givenSource();
  const { id } = await store(owner, "First");
  const next = { ...owner, source: { ...owner.source, run: 2 } };
  await orm.em.fork().nativeUpdate(KnowledgeSource, { id: owner.source.id }, { run: 2 });
  expect((await store(next, "Second")).status).toBe("updated");
  await expect(store(owner, "First")).rejects.toThrow(SourceRunEnded);
  await expect(deleteDocument(deps, owner, id)).rejects.toThrow(SourceRunEnded);
  await orm.em.fork().nativeDelete(KnowledgeSource, { id: owner.source.id });
  await expect(store(next, "Third")).rejects.toThrow(SourceRunEnded);
  const text = await getDocument(db, owner, { id, maxCharacters: 100 });
  expect([text.content, text.version]).toEqual(["Second\n", 2]);
});

test("documents that are being written when the next job of their source begins do not change afterwards", async () => {
  const { db, orm } = service().service.parts;
  const owner = await givenSource();
  const raise = () =>
    orm.em.fork().execute("update knowledge_sources set run = run + 1 where id = ?", [owner.source.id]);
  const results = await Promise.allSettled([
    ...["One", "Two", "Three"].map((text) => store(owner, text)),
    raise(),
    ...["Four", "Five"].map((text) => store(owner, text)),
  ]);
  const listed = () => listDocuments(db, owner, { limit: 10 });
  const before = await listed();
  await expect(store(owner, "Late")).rejects.toThrow(SourceRunEnded);
  expect(await listed()).toEqual(before);
  const failures = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
  expect(failures.filter((failure) => !(failure instanceof SourceRunEnded))).toEqual([]);
});
