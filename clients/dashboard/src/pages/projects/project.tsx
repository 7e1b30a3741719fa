import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { useOrganization } from "../../organization.ts";
import { usePathParameter } from "../../page-params.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Field, readText, Select } from "../../ui/field.tsx";
import { ErrorNotice, Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { RequireRole } from "../../ui/require-role.tsx";
import { ProjectDocuments } from "./project-documents.tsx";
import { ProjectMounts } from "./project-mounts.tsx";
import {
  PROJECT_KIND_OPTIONS,
  type ProjectDetail,
  projectKey,
  type ProjectKind,
  projectsKey,
} from "./project-queries.ts";

/** One project: its settings, the agents that search it, its documents, and a search. */
export function ProjectPage() {
  const projectId = usePathParameter("id");
  const { id: orgId, api } = useOrganization();
  const project = useQuery({
    queryKey: projectKey(orgId, projectId),
    queryFn: () => api.projects.get.query({ id: projectId }),
  });
  return (
    <DetailPage
      title={project.data?.name ?? "Project"}
      list={{ to: "/projects", label: "All projects" }}
      query={project}
    >
      {(data) => (
        <>
          <ProjectDocuments projectId={projectId} />
          <ProjectSearch projectId={projectId} />
          <ProjectMounts project={data} />
          <ProjectSettings project={data} />
        </>
      )}
    </DetailPage>
  );
}

function ProjectSettings({ project }: { project: ProjectDetail }) {
  const { project_id: id, name, kind, description } = project;
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const update = useMutation({
    mutationFn: (form: FormData) =>
      api.projects.update.mutate({
        id,
        name: readText(form, "name"),
        kind: readText(form, "kind") as ProjectKind,
        description: readText(form, "description"),
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: projectKey(orgId, id) }),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    update.mutate(new FormData(event.currentTarget));
  };
  return (
    <Panel title="Settings">
      <form className="grid items-end gap-4 sm:grid-cols-2" onSubmit={submit}>
        <Field label="Name" name="name" required maxLength={100} defaultValue={name} autoComplete="off" />
        <Select label="Kind" name="kind" defaultValue={kind} options={PROJECT_KIND_OPTIONS} />
        <Field label="Description" name="description" maxLength={500} defaultValue={description} autoComplete="off" />
        <Button type="submit" className="justify-self-start" busy={update.isPending}>
          Save settings
        </Button>
      </form>
      <ErrorNotice error={update.error} />
      {update.isSuccess && <Notice variant="success">Settings saved.</Notice>}
      <RequireRole role="admin" to="delete the project">
        <div>
          <DeleteProject project={project} />
        </div>
      </RequireRole>
    </Panel>
  );
}

function DeleteProject({ project: { project_id: id, name } }: { project: ProjectDetail }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { id: orgId, api } = useOrganization();
  const remove = useMutation({
    mutationFn: () => api.projects.delete.mutate({ id }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: projectsKey(orgId) });
      await navigate({ to: "/projects", search: { org: orgId } });
    },
  });
  return (
    <>
      <ConfirmButton
        label="Delete project"
        question={`Delete the project ${name}?`}
        typed={name}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        All its documents are deleted. This cannot be undone.
      </ConfirmButton>
      <ErrorNotice error={remove.error} />
    </>
  );
}

/** Searches the documents of a project, as its agents do. */
function ProjectSearch({ projectId }: { projectId: string }) {
  const [words, setWords] = useState("");
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    setWords(readText(new FormData(event.currentTarget), "words"));
  };
  return (
    <Panel title="Search" intro="What the agents of the project find.">
      <search>
        <form className="grid items-end gap-4 sm:grid-cols-[1fr_auto]" onSubmit={submit}>
          <Field label="Words in the documents" name="words" type="search" maxLength={500} />
          <Button type="submit">Search</Button>
        </form>
      </search>
      {words !== "" && <Results projectId={projectId} words={words} />}
    </Panel>
  );
}

function Results({ projectId, words }: { projectId: string; words: string }) {
  const { id: orgId, api } = useOrganization();
  const found = useQuery({
    queryKey: [...projectKey(orgId, projectId), "search", words],
    queryFn: () => api.projects.search.query({ id: projectId, q: words }),
  });
  return (
    <QueryContent query={found}>
      {({ hits }) =>
        hits.length === 0 ? (
          <EmptyState>
            <p>No document matches these words.</p>
            <p>Use other words, or upload a document that has them.</p>
          </EmptyState>
        ) : (
          <ol aria-label="Found documents" className="space-y-4">
            {hits.map(({ document_id: id, title, snippet }) => (
              <li key={id} className="space-y-1 text-sm">
                <p>
                  <Link
                    to={`/projects/${projectId}/documents/${id}`}
                    search={{ org: orgId, quote: beginningOf(snippet) }}
                    className="font-medium text-link underline"
                  >
                    {title}
                  </Link>
                </p>
                <p className="whitespace-pre-wrap wrap-anywhere">{snippet}</p>
              </li>
            ))}
          </ol>
        )
      }
    </QueryContent>
  );
}

/** The first words of a passage, which fit into a URL. */
function beginningOf(passage: string): string {
  return passage.length <= 300 ? passage : passage.slice(0, 300).replace(/\S*$/, "").trimEnd();
}
