import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Field, readText, Select } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { PageTitle } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { submitForm } from "../../ui/submit-form.ts";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { PROJECT_KIND_OPTIONS, type ProjectKind, projectsKey } from "./project-queries.ts";

type Project = Awaited<ReturnType<Api["projects"]["list"]["query"]>>["projects"][number];

/** The projects of the organization, and a form that creates one. */
export function ProjectsPage() {
  return (
    <>
      <PageTitle>Projects</PageTitle>
      <ProjectList />
      <NewProject />
    </>
  );
}

function ProjectList() {
  const { id: orgId, api } = useOrganization();
  const projects = useInfiniteQuery({
    queryKey: projectsKey(orgId),
    queryFn: ({ pageParam }) => api.projects.list.query(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    // The service sorts capital letters before the others.
    select: ({ pages }) =>
      pages.flatMap((page) => page.projects).toSorted((left, right) => left.name.localeCompare(right.name)),
  });
  return (
    <Panel
      title="Projects of the organization"
      intro="Documents of a client, an engagement or a capability. Only the agents on which a project is mounted search it."
    >
      <QueryContent query={projects}>{(list) => <ProjectTable projects={list} />}</QueryContent>
      {projects.hasNextPage && (
        <Button busy={projects.isFetchingNextPage} onClick={() => void projects.fetchNextPage()}>
          Load more projects
        </Button>
      )}
    </Panel>
  );
}

function ProjectTable({ projects }: { projects: readonly Project[] }) {
  const { id: orgId } = useOrganization();
  if (projects.length === 0)
    return (
      <EmptyState>
        <p>No projects yet.</p>
        <p>Create one below, add its documents, and mount it on the agents that work for it.</p>
      </EmptyState>
    );
  return (
    <Table caption="Projects" columns={["Name", "Kind", "Description", "Documents"]}>
      {projects.map(({ project_id: id, name, kind, description, document_count: documents }) => (
        <Row key={id}>
          <Cell>
            <Link to="/projects/$id" params={{ id }} search={{ org: orgId }} className="font-medium hover:underline">
              {name}
            </Link>
          </Cell>
          <Cell>{PROJECT_KIND_OPTIONS.find(([value]) => value === kind)?.[1]}</Cell>
          <Cell>
            <span className="text-muted">{description}</span>
          </Cell>
          <Cell>{documents.toLocaleString("en")}</Cell>
        </Row>
      ))}
    </Table>
  );
}

function NewProject() {
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const create = useMutation({
    mutationFn: (form: FormData) =>
      api.projects.create.mutate({
        name: readText(form, "name"),
        kind: readText(form, "kind") as ProjectKind,
        description: readText(form, "description"),
      }),
    onSuccess: () => client.invalidateQueries({ queryKey: projectsKey(orgId) }),
  });
  return (
    <Panel title="New project">
      <form className="grid items-end gap-4 sm:grid-cols-2" onSubmit={(event) => submitForm(event, create.mutate)}>
        <Field label="Name" name="name" required maxLength={100} autoComplete="off" />
        <Select label="Kind" name="kind" options={PROJECT_KIND_OPTIONS} />
        <Field label="Description" name="description" maxLength={500} autoComplete="off" />
        <Button type="submit" variant="primary" className="justify-self-start" busy={create.isPending}>
          Create project
        </Button>
      </form>
      <ErrorNotice error={create.error} />
    </Panel>
  );
}
