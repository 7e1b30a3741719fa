import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { useOrganization } from "../../organization.ts";
import { useChangeSearch, useSearchText } from "../../search-params.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Choice, SearchInput } from "../../ui/filter-bar.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { formatCount } from "../../ui/quantities.ts";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { KINDS, labelOf } from "../knowledge/kinds.ts";
import type { DocumentSet, DocumentSummary } from "./document-set.ts";

interface Props {
  set: DocumentSet;
  title: string;
  intro: string;
}

/** The documents of a set, with a search by title and file. */
export function DocumentList({ set, title, intro }: Props) {
  const q = useSearchText("q").trim().toLowerCase();
  const kind = useSearchText("kind");
  const isFiltered = q !== "" || kind !== "";
  const documents = useInfiniteQuery({
    queryKey: [...set.key, "list"],
    queryFn: ({ pageParam }) => set.list(pageParam),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    // The service sorts capital letters before the others.
    select: ({ pages }) =>
      pages.flatMap((page) => page.documents).toSorted((left, right) => left.title.localeCompare(right.title)),
  });
  const { hasNextPage, isFetchingNextPage, isError, fetchNextPage } = documents;
  useEffect(() => {
    // A filter says nothing about documents that are not loaded.
    if (isFiltered && hasNextPage && !isFetchingNextPage && !isError) void fetchNextPage();
  }, [isFiltered, hasNextPage, isFetchingNextPage, isError, fetchNextPage]);
  return (
    <Panel title={title} intro={intro}>
      <QueryContent query={documents}>
        {(all) =>
          all.length === 0 ? (
            <NoDocuments />
          ) : (
            <>
              <Filters set={set} />
              <Shown set={set} all={all} shown={all.filter((document) => matches(document, q, kind))} />
            </>
          )
        }
      </QueryContent>
      {hasNextPage && !isFiltered && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Load more documents
        </Button>
      )}
    </Panel>
  );
}

function matches(document: DocumentSummary, q: string, kind: string): boolean {
  const texts = [document.title, document.file_name ?? ""];
  return (kind === "" || document.kind === kind) && texts.some((text) => text.toLowerCase().includes(q));
}

function NoDocuments() {
  return (
    <EmptyState>
      <p>No documents yet.</p>
      <p>
        <a href="#upload" className="font-medium text-link underline">
          Upload files or a folder
        </a>
        , or write a document below.
      </p>
    </EmptyState>
  );
}

function Filters({ set: { hasKinds } }: { set: DocumentSet }) {
  const q = useSearchText("q");
  const kind = useSearchText("kind");
  const change = useChangeSearch();
  return (
    <div className="flex flex-wrap gap-2">
      <SearchInput
        label="Search documents"
        placeholder="Search by title or file"
        value={q}
        onChange={(text) => change({ q: text })}
      />
      {hasKinds && (
        <Choice
          label="Kind of the documents"
          value={kind}
          options={[["", "All kinds"], ...KINDS]}
          onChange={(chosen) => change({ kind: chosen })}
        />
      )}
      <a href="#upload" className={buttonClass()}>
        Upload
      </a>
    </div>
  );
}

interface ShownProps {
  set: DocumentSet;
  all: readonly DocumentSummary[];
  shown: readonly DocumentSummary[];
}

function Shown({ set, all, shown }: ShownProps) {
  const columns = ["Title", ...(set.hasKinds ? ["Kind"] : []), "File", "Version", "Updated", "Actions"];
  const total = formatCount(all.length, "document");
  return (
    <>
      <p role="status" className="text-xs text-muted">
        {shown.length === all.length ? total : `${shown.length} of ${total}`}
      </p>
      {shown.length === 0 ? (
        <EmptyState>
          <p>No document matches. Change the search or the kind.</p>
        </EmptyState>
      ) : (
        <Table caption="Documents" columns={columns}>
          {shown.map((document) => (
            <DocumentRow key={document.document_id} set={set} document={document} />
          ))}
        </Table>
      )}
    </>
  );
}

function DocumentRow({ set, document }: { set: DocumentSet; document: DocumentSummary }) {
  const { document_id: id, title, kind, file_name: fileName, version, updated_at: updatedAt } = document;
  const { id: orgId } = useOrganization();
  return (
    <Row>
      <Cell>
        <Link to={set.pathOf(id)} search={{ org: orgId }} className="font-medium hover:underline">
          {title}
        </Link>
      </Cell>
      {set.hasKinds && <Cell>{labelOf(kind)}</Cell>}
      <Cell>
        <span className="text-muted">{fileName ?? "written here"}</span>
      </Cell>
      <Cell>{version}</Cell>
      <Cell>
        <Timestamp at={updatedAt} />
      </Cell>
      <Cell>
        {document.source_id === null ? <DeleteDocument set={set} id={id} title={title} /> : "follows its source"}
      </Cell>
    </Row>
  );
}

function DeleteDocument({ set, id, title }: { set: DocumentSet; id: string; title: string }) {
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => set.remove(id),
    onSuccess: () => client.invalidateQueries({ queryKey: set.key }),
  });
  return (
    <>
      <ConfirmButton
        label="Delete"
        accessibleLabel={`Delete ${title}`}
        quiet
        question={`Delete ${title}?`}
        // Nobody types a long title.
        typed={title.length <= 40 ? title : "document"}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        The document is deleted with all its versions. No search finds it any more. This cannot be undone.
      </ConfirmButton>
      <ErrorNotice error={remove.error} />
    </>
  );
}
