import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { formatCount } from "../../ui/quantities.ts";
import { QueryContent } from "../../ui/query-content.tsx";
import { StatusBadge } from "../../ui/status-badge.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { AddSource } from "./add-source.tsx";
import { knowledgeKey, labelOf } from "./kinds.ts";

type Source = Awaited<ReturnType<Api["knowledgeSources"]["list"]["query"]>>["sources"][number];

/** How often the list is read while a source is being read. */
const REFRESH_MS = 2000;

/** The URLs and repositories that documents of Company Knowledge follow. */
export function SourceList() {
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const sources = useQuery({
    queryKey: [...knowledgeKey(orgId), "sources"],
    queryFn: () => api.knowledgeSources.list.query(),
    refetchInterval: ({ state: { data } }) => (data?.sources.some(isBusy) === true ? REFRESH_MS : false),
  });
  const busy = sources.data?.sources.some(isBusy) === true;
  const wasBusy = useRef(false);
  useEffect(() => {
    // The reading has changed documents.
    if (wasBusy.current && !busy) void client.invalidateQueries({ queryKey: knowledgeKey(orgId) });
    wasBusy.current = busy;
  }, [busy, client, orgId]);
  return (
    <Panel
      title="Sources"
      intro="Web pages, files and repositories. They are read every day, and their documents follow them."
    >
      <AddSource />
      <QueryContent query={sources}>{({ sources: list }) => <SourceTable sources={list} />}</QueryContent>
    </Panel>
  );
}

function isBusy({ status }: Source): boolean {
  return status === "queued" || status === "reading";
}

function SourceTable({ sources }: { sources: readonly Source[] }) {
  if (sources.length === 0)
    return (
      <EmptyState>
        <p>No sources yet.</p>
      </EmptyState>
    );
  return (
    <Table caption="Sources" columns={["Source", "Kind", "Status", "Documents", "Checked", "Actions"]}>
      {sources.map((source) => (
        <SourceRow key={source.source_id} source={source} />
      ))}
    </Table>
  );
}

/** Returns `acme/handbook@main:docs` for a folder of a repository. */
function nameOf({ url, repo, branch, path }: Source): string {
  if (url !== null) return url.replace(/^https:\/\//, "");
  return `${repo ?? ""}${branch === null ? "" : `@${branch}`}${path === null ? "" : `:${path}`}`;
}

function SourceRow({ source }: { source: Source }) {
  const name = nameOf(source);
  return (
    <Row>
      <Cell>
        <span className="font-medium wrap-anywhere">{name}</span>
      </Cell>
      <Cell>{labelOf(source.kind)}</Cell>
      <Cell>
        <StatusBadge status={source.status} />
        {source.error !== null && <p className="pt-1 text-danger">{source.error}</p>}
      </Cell>
      <Cell>
        {source.document_count.toLocaleString("en")}
        {source.skipped_count > 0 && <SkippedFiles source={source} name={name} />}
      </Cell>
      <Cell>
        <Timestamp at={source.last_checked_at} />
      </Cell>
      <Cell>
        <SourceActions source={source} name={name} />
      </Cell>
    </Row>
  );
}

/** The documents of a source that could not be stored, with the reasons. */
function SkippedFiles({ source, name }: { source: Source; name: string }) {
  const { source_id: id, skipped_count: count } = source;
  const { id: orgId, api } = useOrganization();
  const [isOpen, setOpen] = useState(false);
  const detail = useQuery({
    queryKey: [...knowledgeKey(orgId), "source", id, source.last_checked_at],
    queryFn: () => api.knowledgeSources.get.query({ id }),
    enabled: isOpen,
  });
  return (
    <>
      <Button
        variant="quiet"
        aria-label={`Show the files of ${name} that are not stored`}
        onClick={() => setOpen(true)}
      >
        {count.toLocaleString("en")} not stored
      </Button>
      <Dialog title={`${formatCount(count, "file")} not stored`} open={isOpen} onClose={() => setOpen(false)}>
        {isOpen && (
          <QueryContent query={detail}>
            {({ skipped }) => (
              <ul className="space-y-2 text-sm">
                {skipped.map(({ file, error }) => (
                  <li key={file} className="wrap-anywhere">
                    <span className="font-medium">{file}</span>: {error}
                  </li>
                ))}
                {skipped.length < count && <li>The others are not listed.</li>}
              </ul>
            )}
          </QueryContent>
        )}
      </Dialog>
    </>
  );
}

function SourceActions({ source, name }: { source: Source; name: string }) {
  const { source_id: id, document_count: count } = source;
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const onSuccess = () => client.invalidateQueries({ queryKey: knowledgeKey(orgId) });
  const refresh = useMutation({ mutationFn: () => api.knowledgeSources.refresh.mutate({ id }), onSuccess });
  const remove = useMutation({ mutationFn: () => api.knowledgeSources.delete.mutate({ id }), onSuccess });
  return (
    <>
      <div className="flex gap-2">
        <Button
          variant="quiet"
          className="-ml-3"
          aria-label={`Refresh ${name}`}
          busy={refresh.isPending || isBusy(source)}
          onClick={() => refresh.mutate()}
        >
          Refresh
        </Button>
        <ConfirmButton
          label="Delete"
          accessibleLabel={`Delete ${name}`}
          quiet
          question={`Delete ${name}?`}
          busy={remove.isPending}
          onConfirm={() => remove.mutate()}
        >
          The source is deleted with {count === 1 ? "its document" : `its ${formatCount(count, "document")}`}. No search
          finds them any more. This cannot be undone.
        </ConfirmButton>
      </div>
      <ErrorNotice error={refresh.error ?? remove.error} />
    </>
  );
}
