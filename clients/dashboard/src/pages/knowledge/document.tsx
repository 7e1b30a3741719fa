import { usePathParameter } from "../../page-params.ts";
import { DocumentReader } from "../documents/document-reader.tsx";
import { useCompanyKnowledge } from "../documents/document-set.ts";

const LIST = { to: "/knowledge", label: "All documents" };

/** A document of Company Knowledge. */
export function DocumentPage() {
  return <DocumentReader set={useCompanyKnowledge()} id={usePathParameter("id")} list={LIST} />;
}
