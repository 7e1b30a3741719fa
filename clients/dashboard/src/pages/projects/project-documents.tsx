import { DocumentList } from "../documents/document-list.tsx";
import { useProjectDocuments } from "../documents/document-set.ts";
import { UploadPanel } from "../documents/upload-panel.tsx";
import { WriteDocument } from "../documents/write-document.tsx";

/** The documents of a project, and forms that add some. */
export function ProjectDocuments({ projectId }: { projectId: string }) {
  const set = useProjectDocuments(projectId);
  return (
    <>
      <DocumentList
        set={set}
        title="Documents"
        intro="Only the agents on which the project is mounted can search them."
      />
      <UploadPanel set={set} />
      <WriteDocument set={set} />
    </>
  );
}
