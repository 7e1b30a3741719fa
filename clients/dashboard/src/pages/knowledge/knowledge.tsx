import { PageHeader } from "../../ui/page-header.tsx";
import { useCompanyKnowledge } from "../documents/document-set.ts";
import { DocumentList } from "../documents/document-list.tsx";
import { UploadPanel } from "../documents/upload-panel.tsx";
import { WriteDocument } from "../documents/write-document.tsx";
import { AskPanel } from "./ask.tsx";
import { SourceList } from "./sources.tsx";

/** The Company Knowledge of the organization: its documents and their sources, and answers from them. */
export function KnowledgePage() {
  const set = useCompanyKnowledge();
  return (
    <>
      <PageHeader title="Knowledge" />
      <AskPanel />
      <DocumentList
        set={set}
        title="Documents"
        intro="Policies, prices, brand rules, SOPs and FAQs that agents can cite."
      />
      <UploadPanel set={set} />
      <SourceList />
      <WriteDocument set={set} />
    </>
  );
}
