import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type SubmitEvent, useId, useState } from "react";
import { type Api, sendJson } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Field, readText, Select, TEXT_AREA_CLASS } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { PageTitle } from "../../ui/page-layout.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { AskPanel } from "./ask.tsx";
import { type Kind, KINDS, knowledgeKey, labelOf } from "./kinds.ts";
import { UploadPanel } from "./upload.tsx";

type Document = Awaited<ReturnType<Api["knowledge"]["list"]["query"]>>["documents"][number];

const COLUMNS = ["Title", "Kind", "File", "Version", "Updated", "Actions"];

/** The Company Knowledge of the organization: its documents, and answers from them. */
export function KnowledgePage() {
  return (
    <>
      <PageTitle>Knowledge</PageTitle>
      <AskPanel />
      <DocumentsPanel />
      <UploadPanel />
      <WritePanel />
    </>
  );
}

function DocumentsPanel() {
  const { id: orgId, api } = useOrganization();
  const [kind, setKind] = useState<Kind | null>(null);
  const documents = useInfiniteQuery({
    queryKey: [...knowledgeKey(orgId), "list", kind],
    queryFn: ({ pageParam }) =>
      api.knowledge.list.query({ ...(kind !== null && { kind }), ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.documents),
  });
  return (
    <Panel title="Documents" intro="Policies, prices, brand rules, SOPs and FAQs that agents can cite.">
      <Select
        label="Kind of the documents"
        options={[["", "All kinds"], ...KINDS]}
        onChange={(event) => setKind(KINDS.find(([value]) => value === event.currentTarget.value)?.[0] ?? null)}
      />
      <QueryContent query={documents}>
        {(list) =>
          list.length === 0 ? (
            <EmptyState>No documents yet.</EmptyState>
          ) : (
            <Table caption="Documents of Company Knowledge" columns={COLUMNS}>
              {list.map((document) => (
                <DocumentRow key={document.document_id} document={document} />
              ))}
            </Table>
          )
        }
      </QueryContent>
      {documents.hasNextPage && (
        <Button busy={documents.isFetchingNextPage} onClick={() => void documents.fetchNextPage()}>
          Load more documents
        </Button>
      )}
    </Panel>
  );
}

function DocumentRow({ document }: { document: Document }) {
  const { document_id: id, title, kind, file_name: fileName, version, updated_at: updatedAt } = document;
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.knowledge.delete.mutate({ id }),
    onSuccess: () => client.invalidateQueries({ queryKey: knowledgeKey(orgId) }),
  });
  return (
    <Row>
      <Cell>
        <Link to="/knowledge/$id" params={{ id }} search={{ org: orgId }} className="underline">
          {title}
        </Link>
      </Cell>
      <Cell>{labelOf(kind)}</Cell>
      <Cell>{fileName ?? "written"}</Cell>
      <Cell>{version}</Cell>
      <Cell>
        <Timestamp at={updatedAt} />
      </Cell>
      <Cell>
        <ConfirmButton
          label="Delete"
          accessibleLabel={`Delete ${title}`}
          question={`Delete ${title}?`}
          busy={remove.isPending}
          onConfirm={() => remove.mutate()}
        >
          The document is deleted with all its versions. This cannot be undone.
        </ConfirmButton>
        <ErrorNotice error={remove.error} />
      </Cell>
    </Row>
  );
}

type Added = Awaited<ReturnType<Api["knowledge"]["add"]["mutate"]>>;

/** Adds a document that is written on the page. */
function WritePanel() {
  const client = useQueryClient();
  const { id: orgId } = useOrganization();
  const field = useId();
  const add = useMutation({
    mutationFn: ({ form }: { form: FormData; element: HTMLFormElement }) =>
      sendJson<Added>(orgId, "POST", "/v1/knowledge/documents", {
        kind: readText(form, "kind"),
        title: readText(form, "title"),
        content: readText(form, "content"),
      }),
    onSuccess: async (_, { element }) => {
      element.reset();
      await client.invalidateQueries({ queryKey: knowledgeKey(orgId) });
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    add.mutate({ form: new FormData(event.currentTarget), element: event.currentTarget });
  };
  return (
    <Panel title="Write a document">
      <form aria-label="Write a document" className="space-y-4" onSubmit={submit}>
        <Select label="Kind" name="kind" options={KINDS} />
        <Field label="Title" name="title" maxLength={200} required />
        <label htmlFor={field} className="text-sm font-medium">
          Text as Markdown
        </label>
        <textarea id={field} name="content" rows={8} required className={TEXT_AREA_CLASS} />
        <Button type="submit" variant="primary" busy={add.isPending}>
          Add document
        </Button>
        <ErrorNotice error={add.error} />
      </form>
    </Panel>
  );
}
