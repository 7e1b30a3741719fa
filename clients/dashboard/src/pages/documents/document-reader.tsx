import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense } from "react";
import { useOrganization } from "../../organization.ts";
import { useSearchText } from "../../search-params.ts";
import { DetailPage } from "../../ui/detail-page.tsx";
import { Loading } from "../../ui/loading.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { labelOf } from "../knowledge/kinds.ts";
import type { DocumentDetail, DocumentSet } from "./document-set.ts";
import { DocumentVersions } from "./document-versions.tsx";
import { EditDocument } from "./edit-document.tsx";

const DocumentText = lazy(async () => ({ default: (await import("./document-text.tsx")).DocumentText }));

interface Props {
  set: DocumentSet;
  id: string;
  list: { to: string; label: string };
}

/** One document: its text with an outline, another text or file for it, and its versions. */
export function DocumentReader({ set, id, list }: Props) {
  const version = readVersion(useSearchText("version"));
  const document = useQuery({
    queryKey: [...set.key, "get", id, version],
    queryFn: () => set.get(id, version),
  });
  return (
    <DetailPage title={document.data?.title ?? "Document"} list={list} query={document}>
      {(data) => (
        <>
          <TextPanel set={set} document={data} version={version} />
          {/* The key shows the new text after a change. */}
          {version === null && data.source_id === null && <EditDocument key={data.version} set={set} document={data} />}
          <DocumentVersions set={set} id={id} canRestore={data.source_id === null} />
        </>
      )}
    </DetailPage>
  );
}

function readVersion(text: string): number | null {
  const version = Number(text);
  return Number.isInteger(version) && version > 0 ? version : null;
}

interface TextProps {
  set: DocumentSet;
  document: DocumentDetail;
  /** The version that the URL names; `null` for the current one. */
  version: number | null;
}

function TextPanel({ set, document, version }: TextProps) {
  const { document_id: id, content } = document;
  const { id: orgId } = useOrganization();
  const quote = useSearchText("quote");
  return (
    <Panel title="Text" intro={<Facts document={document} />}>
      {version !== null && (
        <Notice>
          This is version {version}.{" "}
          <Link to={set.pathOf(id)} search={{ org: orgId }} className="text-link underline">
            Read the current version
          </Link>
        </Notice>
      )}
      {!content.includes(quote) && (
        <Notice>The cited passage is not in the text any more: the document has changed since the answer.</Notice>
      )}
      <Suspense fallback={<Loading />}>
        <DocumentText key={quote} content={content} quote={quote} />
      </Suspense>
    </Panel>
  );
}

function Facts({
  document: { kind, version, file_name: fileName, updated_at: updatedAt, source_id: sourceId },
}: {
  document: DocumentDetail;
}) {
  const isOfSource = sourceId !== null;
  return (
    <>
      {kind !== null && `${labelOf(kind)} · `}
      {isOfSource && "follows its source · "}version {version} · {fileName ?? "written here"} ·{" "}
      <Timestamp at={updatedAt} />. Agents read the text as it is here.
    </>
  );
}
