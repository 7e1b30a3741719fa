import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Api, formatError } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { PageTitle } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { RequireRole } from "../../ui/require-role.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { SkillUpload } from "./skill-upload.tsx";

type Skill = Awaited<ReturnType<Api["skills"]["list"]["query"]>>["skills"][number];

const skillsKey = (orgId: string) => ["skills", orgId];

/** The skills of the organization: folders with instructions, which agents load when they need them. */
export function SkillsPage() {
  const { id: orgId, api } = useOrganization();
  const skills = useInfiniteQuery({
    queryKey: skillsKey(orgId),
    queryFn: ({ pageParam }) => api.skills.list.query(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.skills),
  });
  return (
    <>
      <PageTitle>Skills</PageTitle>
      <Panel
        title="Skills of the organization"
        intro="Each agent's page says which of them it can run, and enables them."
      >
        <QueryContent query={skills}>
          {(list) =>
            list.length === 0 ? (
              <EmptyState>
                <p>No skills yet. Add a folder with a SKILL.md, or a zip of one.</p>
              </EmptyState>
            ) : (
              <SkillTable skills={list} />
            )
          }
        </QueryContent>
        {skills.hasNextPage && (
          <Button busy={skills.isFetchingNextPage} onClick={() => void skills.fetchNextPage()}>
            Load more skills
          </Button>
        )}
      </Panel>
      <Panel title="Add a skill" intro="A skill with the same name is replaced.">
        <RequireRole role="admin" to="add skills">
          <SkillUpload />
        </RequireRole>
      </Panel>
    </>
  );
}

function SkillTable({ skills }: { skills: readonly Skill[] }) {
  const { id: orgId, role } = useOrganization();
  return (
    <Table caption="Skills" columns={["Name", "Description", "Source", "Changed", "Actions"]}>
      {skills.map(({ name, description, source, updated_at: at }) => (
        <Row key={name}>
          <Cell>
            <Link
              to="/skills/$name"
              params={{ name }}
              search={{ org: orgId }}
              className="font-mono text-link underline"
            >
              {name}
            </Link>
          </Cell>
          <Cell>
            <span className="line-clamp-2">{description}</span>
          </Cell>
          <Cell>{source}</Cell>
          <Cell>
            <Timestamp at={at} />
          </Cell>
          <Cell>{role !== "member" && <DeleteSkill name={name} />}</Cell>
        </Row>
      ))}
    </Table>
  );
}

function DeleteSkill({ name }: { name: string }) {
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: () => api.skills.delete.mutate({ name }),
    onSuccess: () => client.invalidateQueries({ queryKey: skillsKey(orgId) }),
    onError: (error) => showToast(`${name} was not deleted.`, formatError(error)),
  });
  return (
    <ConfirmButton
      label="Delete"
      accessibleLabel={`Delete ${name}`}
      question={`Delete the skill ${name}?`}
      typed={name}
      busy={remove.isPending}
      onConfirm={() => remove.mutate()}
    >
      No agent can load it any more. This cannot be undone.
    </ConfirmButton>
  );
}
