import { usePathParameter } from "../../page-params.ts";
import { DocumentReader } from "../documents/document-reader.tsx";
import { useProjectDocuments } from "../documents/document-set.ts";

/** A document of a project. */
export function ProjectDocumentPage() {
  const projectId = usePathParameter("id");
  const list = { to: `/projects/${projectId}`, label: "All documents of the project" };
  return <DocumentReader set={useProjectDocuments(projectId)} id={usePathParameter("documentId")} list={list} />;
}
