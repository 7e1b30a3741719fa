import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useId } from "react";
import { type Api, sendJson } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { Field, readText, TEXT_AREA_CLASS } from "../../ui/field.tsx";
import { ErrorNotice, Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Table } from "../../ui/table.tsx";
import { VersionRow } from "../../ui/version-row.tsx";
import { knowledgeKey, labelOf } from "./kinds.ts";
import { ACCEPTED, readFile } from "../../ui/read-file.ts";

type Document = Awaited<ReturnType<Api["knowledge"]["get"]["query"]>>;
type Changed = Awaited<ReturnType<Api["knowledge"]["change"]["mutate"]>>;
type Version = Awaited<ReturnType<Api["knowledge"]["versions"]["query"]>>["versions"][number];

const COLUMNS = ["Version", "Stored", "File", "Size", "Actions"];

/** One document: its text, another text or file for it, and its versions. */
export function DocumentPage({ documentId: id }: { documentId: string }) {
  const { id: orgId, api } = useOrganization();
  const document = useQuery({
    queryKey: [...knowledgeKey(orgId), "get", id],
    queryFn: () => api.knowledge.get.query({ id }),
  });
  return (
    <DetailPage
      title={document.data?.title ?? "Document"}
      list={{ to: "/knowledge", label: "All documents" }}
      query={document}
    >
      {(data) => (
        <>
          {/* The key shows the new text after a change. */}
          <TextPanel key={data.version} document={data} />
          <VersionsPanel document={data} />
        </>
      )}
    </DetailPage>
  );
}

function TextPanel({ document }: { document: Document }) {
  const { document_id: id, content, kind, next_offset: nextOffset } = document;
  const client = useQueryClient();
  const { id: orgId } = useOrganization();
  const field = useId();
  const change = useMutation({
    mutationFn: async (form: FormData) => {
      const file = form.get("file");
      const isFile = file instanceof File && file.name !== "";
      const body = isFile ? { file: await readFile(file) } : { content: readText(form, "content") };
      return sendJson<Changed>(orgId, "PATCH", `/v1/knowledge/documents/${id}`, body);
    },
    onSuccess: () => client.invalidateQueries({ queryKey: knowledgeKey(orgId) }),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    change.mutate(new FormData(event.currentTarget));
  };
  // A part of a text must not replace the whole.
  const isWhole = nextOffset === null;
  return (
    <Panel title="Text" intro={`${labelOf(kind)}. Agents read the text as it is here.`}>
      <form aria-label="Text of the document" className="space-y-4" onSubmit={submit}>
        <label htmlFor={field} className="text-sm font-medium">
          Text as Markdown
        </label>
        <textarea
          id={field}
          name="content"
          rows={18}
          className={TEXT_AREA_CLASS}
          defaultValue={content}
          readOnly={!isWhole}
        />
        {!isWhole && <Notice>This is the first part of a long text. Replace it with a file.</Notice>}
        <Field label="Replace with a file" name="file" type="file" accept={ACCEPTED} required={!isWhole} />
        <Button type="submit" variant="primary" busy={change.isPending}>
          Save as new version
        </Button>
        <ErrorNotice error={change.error} />
        {change.data?.status === "unchanged" && <Notice>The text is the same as before.</Notice>}
      </form>
    </Panel>
  );
}

function VersionsPanel({ document: { document_id: id, version: current } }: { document: Document }) {
  const { id: orgId, api } = useOrganization();
  const versions = useQuery({
    queryKey: [...knowledgeKey(orgId), "versions", id],
    queryFn: () => api.knowledge.versions.query({ id }),
  });
  return (
    <Panel title="Versions" intro="The newest 20 versions are kept.">
      <QueryContent query={versions}>
        {({ versions: list }) => (
          <Table caption="Versions of the document" columns={COLUMNS}>
            {list.map((version) => (
              <DocumentVersion
                key={version.number}
                documentId={id}
                version={version}
                isCurrent={version.number === current}
              />
            ))}
          </Table>
        )}
      </QueryContent>
    </Panel>
  );
}

interface DocumentVersionProps {
  documentId: string;
  version: Version;
  isCurrent: boolean;
}

function DocumentVersion({ documentId: id, version, isCurrent }: DocumentVersionProps) {
  const { number, created_at: createdAt, file_name: fileName, size_bytes: size, restored } = version;
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const restore = useMutation({
    mutationFn: () => api.knowledge.restore.mutate({ id, number }),
    onSuccess: () => client.invalidateQueries({ queryKey: knowledgeKey(orgId) }),
  });
  return (
    <VersionRow {...{ noun: "version", number, restored, createdAt, isCurrent, restore, content: "text" }}>
      <Cell>{fileName ?? "written"}</Cell>
      <Cell>{size} bytes</Cell>
    </VersionRow>
  );
}
