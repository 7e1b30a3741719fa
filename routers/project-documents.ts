import {
  addProjectDocument,
  changeProjectDocument,
  deleteProjectDocument,
  getProjectDocument,
  listProjectDocuments,
  listProjectDocumentVersions,
  restoreProjectDocument,
} from "../domain/projects/project-documents.ts";
import { deleteResponse } from "./core/common.schema.ts";
import { procedure, router } from "./core/trpc.ts";
import {
  changedDocument,
  documentDetail,
  documentPage,
  documentVersions,
  UPLOAD_BODY_BYTES,
} from "./knowledge.schema.ts";
import {
  addProjectDocumentRequest,
  changeProjectDocumentRequest,
  getProjectDocumentRequest,
  listProjectDocumentsRequest,
  projectDocumentRequest,
  restoreProjectDocumentRequest,
} from "./project-documents.schema.ts";

const tags = ["Projects"];
const access = { scope: "everything" } as const;
const noProject = "No such project in the organization";
const noDocument = "No such project in the organization, or no such document of the project";
const noVersion = "No such project in the organization, or no such document or version";
const invalidContent = "The text, the file or the title is invalid";
const tooMuch =
  "The plan allows no more documents or text, the scope is insufficient, or the user is a member of no organization";
const busy = "Too many files are being read, or the service's database is temporarily unavailable";

export const projectDocuments = router({
  list: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/projects/{id}/documents",
        tags,
        summary: "List the documents of a project",
        description: "The documents of a project, by title, without their texts.",
        successDescription: "A page of the documents",
        errorResponses: { 400: "The cursor or the limit is invalid", 404: noProject },
      },
    })
    .input(listProjectDocumentsRequest)
    .output(documentPage)
    .query(({ ctx, input }) => listProjectDocuments(ctx.service, ctx.caller, input)),

  add: procedure
    .meta({
      access,
      openapi: {
        method: "POST",
        path: "/v1/projects/{id}/documents",
        tags,
        summary: "Add a document to a project",
        description:
          "Adds a text, or a file with Markdown, text, HTML, PDF, DOCX, PPTX, XLSX, CSV, OpenDocument or EPUB. A file with the `name` of an earlier upload to the project becomes a new version of that document.",
        bodyLimit: UPLOAD_BODY_BYTES,
        successStatus: 201,
        successDescription: "The document is stored",
        errorResponses: { 400: invalidContent, 404: noProject, 403: tooMuch, 503: busy },
      },
    })
    .input(addProjectDocumentRequest)
    .output(changedDocument)
    .mutation(({ ctx, input, signal }) => addProjectDocument(ctx.service, ctx.caller, input, signal)),

  get: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/projects/{id}/documents/{document_id}",
        tags,
        summary: "Read a document of a project",
        description:
          "The text of a document as Markdown, in parts of at most one MiB. With `version`, of a kept version.",
        successDescription: "The document, or a part of it",
        errorResponses: { 404: noVersion },
      },
    })
    .input(getProjectDocumentRequest)
    .output(documentDetail)
    .query(({ ctx, input }) => getProjectDocument(ctx.service, ctx.caller, input)),

  change: procedure
    .meta({
      access,
      openapi: {
        method: "PATCH",
        path: "/v1/projects/{id}/documents/{document_id}",
        tags,
        summary: "Change a document of a project",
        description:
          "Replaces the text, from `content` or `file`, and changes the title or the language. A new text becomes a new version. The same text again changes nothing.",
        bodyLimit: UPLOAD_BODY_BYTES,
        successDescription: "The document after the change",
        errorResponses: { 400: invalidContent, 404: noDocument, 403: tooMuch, 503: busy },
      },
    })
    .input(changeProjectDocumentRequest)
    .output(changedDocument)
    .mutation(({ ctx, input, signal }) => changeProjectDocument(ctx.service, ctx.caller, input, signal)),

  versions: procedure
    .meta({
      openapi: {
        method: "GET",
        path: "/v1/projects/{id}/documents/{document_id}/versions",
        tags,
        summary: "List the versions of a project's document",
        description: "The kept versions, the newest first. The newest 20 are kept.",
        successDescription: "The versions",
        errorResponses: { 404: noDocument },
      },
    })
    .input(projectDocumentRequest)
    .output(documentVersions)
    .query(({ ctx, input }) => listProjectDocumentVersions(ctx.service, ctx.caller, input)),

  restore: procedure
    .meta({
      access,
      openapi: {
        method: "POST",
        path: "/v1/projects/{id}/documents/{document_id}/versions/{number}/restore",
        tags,
        summary: "Restore a version of a project's document",
        description: "Makes the text of a kept version current again, as a new version.",
        successDescription: "The document after the change",
        errorResponses: { 404: noVersion, 403: tooMuch },
      },
    })
    .input(restoreProjectDocumentRequest)
    .output(changedDocument)
    .mutation(({ ctx, input }) => restoreProjectDocument(ctx.service, ctx.caller, input)),

  delete: procedure
    .meta({
      access,
      openapi: {
        method: "DELETE",
        path: "/v1/projects/{id}/documents/{document_id}",
        tags,
        summary: "Delete a document of a project",
        description: "Deletes a document with its versions. The search no longer finds it.",
        successDescription: "The document is deleted",
        errorResponses: { 404: noDocument },
      },
    })
    .input(projectDocumentRequest)
    .output(deleteResponse)
    .mutation(({ ctx, input }) => deleteProjectDocument(ctx.service, ctx.caller, input)),
});
