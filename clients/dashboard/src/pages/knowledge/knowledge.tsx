import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Select } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { PageTitle } from "../../ui/page-layout.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { AskPanel } from "./ask.tsx";
import { type Kind, KINDS, knowledgeKey, labelOf } from "./kinds.ts";
import { UploadPanel } from "./upload.tsx";
import { WritePanel } from "./write.tsx";

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
