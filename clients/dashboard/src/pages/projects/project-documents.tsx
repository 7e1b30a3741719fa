import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { type SubmitEvent, useId } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Field, readText, TEXT_AREA_CLASS } from "../../ui/field.tsx";
import { ErrorNotice, Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { ACCEPTED, readFile } from "../../ui/read-file.ts";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { projectKey } from "./project-queries.ts";

type ProjectDocument = Awaited<ReturnType<Api["projectDocuments"]["list"]["query"]>>["documents"][number];
type NewDocument = Parameters<Api["projectDocuments"]["add"]["mutate"]>[0];

/** The documents of a project, and forms that add some. */
export function ProjectDocuments({ projectId }: { projectId: string }) {
  const { id: orgId, api } = useOrganization();
  const documents = useInfiniteQuery({
    queryKey: [...projectKey(orgId, projectId), "documents"],
    queryFn: ({ pageParam }) =>
      api.projectDocuments.list.query({ id: projectId, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.documents),
  });
  return (
    <Panel title="Documents">
      <QueryContent query={documents}>
        {(list) => <DocumentTable projectId={projectId} documents={list} />}
      </QueryContent>
      {documents.hasNextPage && (
        <Button busy={documents.isFetchingNextPage} onClick={() => void documents.fetchNextPage()}>
          Load more documents
        </Button>
      )}
      <UploadForm projectId={projectId} />
      <TextForm projectId={projectId} />
    </Panel>
  );
}

interface TableProps {
  projectId: string;
  documents: readonly ProjectDocument[];
}

function DocumentTable({ projectId, documents }: TableProps) {
  if (documents.length === 0)
    return (
      <EmptyState>
        <p>No documents yet.</p>
      </EmptyState>
    );
  return (
    <Table caption="Documents of the project" columns={["Title", "File", "Version", "Updated", "Actions"]}>
      {documents.map((document) => (
        <Row key={document.document_id}>
          <Cell>{document.title}</Cell>
          <Cell>{document.file_name}</Cell>
          <Cell>{document.version}</Cell>
          <Cell>
            <Timestamp at={document.updated_at} />
          </Cell>
          <Cell>
            <DeleteDocument projectId={projectId} document={document} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function DeleteDocument({ projectId, document }: { projectId: string; document: ProjectDocument }) {
  const { document_id: documentId, title } = document;
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const remove = useMutation({
    mutationFn: () => api.projectDocuments.delete.mutate({ id: projectId, document_id: documentId }),
    onSuccess: () => client.invalidateQueries({ queryKey: projectKey(orgId, projectId) }),
  });
  return (
    <>
      <ConfirmButton
        label="Delete"
        accessibleLabel={`Delete ${title}`}
        question={`Delete ${title}?`}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        The document is deleted with its versions. No search finds it any more.
      </ConfirmButton>
      <ErrorNotice error={remove.error} />
    </>
  );
}

/** Adds documents one after the other, so that a refused file names itself in the error. */
function useAddDocuments(projectId: string) {
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  return useMutation({
    mutationFn: async (documents: readonly NewDocument[]) => {
      for (const document of documents) await api.projectDocuments.add.mutate(document);
      return documents.length;
    },
    onSettled: () => client.invalidateQueries({ queryKey: projectKey(orgId, projectId) }),
  });
}

function UploadForm({ projectId }: { projectId: string }) {
  const add = useAddDocuments(projectId);
  const read = useMutation({
    mutationFn: (files: File[]) => Promise.all(files.map((file) => toUpload(projectId, file))),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const files = new FormData(event.currentTarget).getAll("files").filter((file) => file instanceof File);
    read.mutate(files, { onSuccess: (documents) => add.mutate(documents) });
  };
  return (
    <>
      <form aria-label="Upload documents" className="grid items-end gap-4 sm:grid-cols-[1fr_auto]" onSubmit={submit}>
        <Field
          label="Files"
          hint="Markdown, text, HTML, PDF or DOCX. A file of the same name becomes a new version."
          name="files"
          type="file"
          accept={ACCEPTED}
          multiple
          required
        />
        <Button type="submit" busy={read.isPending || add.isPending}>
          Upload
        </Button>
      </form>
      <ErrorNotice error={read.error ?? add.error} />
      {add.data !== undefined && (
        <Notice variant="success">{add.data === 1 ? "1 file" : `${add.data} files`} uploaded.</Notice>
      )}
    </>
  );
}

async function toUpload(projectId: string, file: File): Promise<NewDocument> {
  return { id: projectId, file: await readFile(file) };
}

function TextForm({ projectId }: { projectId: string }) {
  const id = useId();
  const add = useAddDocuments(projectId);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = new FormData(form);
    const document = { id: projectId, title: readText(fields, "title"), content: readText(fields, "content") };
    add.mutate([document], { onSuccess: () => form.reset() });
  };
  return (
    <form aria-label="Write a document" className="space-y-3" onSubmit={submit}>
      <Field label="Title" name="title" required maxLength={200} autoComplete="off" />
      <label htmlFor={id} className="text-sm font-medium">
        Text in Markdown
      </label>
      <textarea id={id} name="content" className={TEXT_AREA_CLASS} rows={4} required />
      <Button type="submit" busy={add.isPending}>
        Add document
      </Button>
      <ErrorNotice error={add.error} />
    </form>
  );
}
