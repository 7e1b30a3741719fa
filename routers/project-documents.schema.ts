import { z } from "zod";
import { documentFields, documentPart, versionNumber } from "./knowledge.schema.ts";
import { projectId } from "./projects.schema.ts";

const documentId = z.uuid().meta({ description: "The document's id" });

export const listProjectDocumentsRequest = z.strictObject({
  id: projectId,
  limit: z.int().min(1).max(100).optional().meta({ description: "Maximum number; 50 by default" }),
  cursor: z.string().max(2000).optional().meta({ description: "`next_cursor` of the previous page" }),
});

export const addProjectDocumentRequest = z
  .strictObject({ id: projectId, ...documentFields })
  .meta({ id: "AddProjectDocumentRequest" });

export const projectDocumentRequest = z.strictObject({ id: projectId, document_id: documentId });

export const getProjectDocumentRequest = z.strictObject({ id: projectId, document_id: documentId, ...documentPart });

export const changeProjectDocumentRequest = z
  .strictObject({ id: projectId, document_id: documentId, ...documentFields })
  .meta({ id: "ChangeProjectDocumentRequest" });

export const restoreProjectDocumentRequest = z
  .strictObject({ id: projectId, document_id: documentId, number: versionNumber })
  .meta({ id: "RestoreProjectDocumentVersionRequest" });
