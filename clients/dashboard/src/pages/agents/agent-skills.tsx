import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { SkillUpload } from "../skills/skill-upload.tsx";

type Skill = Awaited<ReturnType<Api["agentSkills"]["list"]["query"]>>["skills"][number];

const COLUMNS = ["Name", "Description", "State"];
/** The reason of a skill that is only not enabled. */
const DISABLED = "disabled for this agent";

const skillsKey = (orgId: string, agentId: string) => ["agent-skills", orgId, agentId];

interface AgentSkillsProps {
  agentId: string;
  /** Whether a gateway has the skills, and enables them. */
  isHosted: boolean;
}

/** The skills of the organization or of the agent's gateway, and which of them the agent can run. */
export function AgentSkills({ agentId, isHosted }: AgentSkillsProps) {
  const { id: orgId, api } = useOrganization();
  const skills = useInfiniteQuery({
    queryKey: skillsKey(orgId, agentId),
    queryFn: ({ pageParam }) =>
      api.agentSkills.list.query({ id: agentId, ...(pageParam !== null && { cursor: pageParam }) }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  return (
    <Panel
      title="Skills"
      intro={`The skills of ${isHosted ? "the gateway" : "the organization"}, and which of them the agent can run.`}
    >
      <QueryContent query={skills}>
        {({ pages }) => {
          const list = pages.flatMap((page) => page.skills);
          const note = pages[0]?.note ?? null;
          if (list.length === 0)
            return <EmptyState>{isHosted ? "No skills." : "No skills yet. Upload one below."}</EmptyState>;
          return (
            <>
              {note !== null && <HelpText>{note}</HelpText>}
              <Table caption="Skills of the agent" columns={isHosted ? COLUMNS : [...COLUMNS, "Actions"]}>
                {list.map((skill) => (
                  <SkillRow key={skill.name} skill={skill}>
                    {!isHosted && <EnableSkill agentId={agentId} skill={skill} />}
                  </SkillRow>
                ))}
              </Table>
            </>
          );
        }}
      </QueryContent>
      {skills.hasNextPage && (
        <Button busy={skills.isFetchingNextPage} onClick={() => void skills.fetchNextPage()}>
          Load more skills
        </Button>
      )}
      {!isHosted && <SkillUpload agentId={agentId} />}
    </Panel>
  );
}

function SkillRow({ skill, children }: { skill: Skill; children: ReactNode }) {
  const { name, description, eligible, missing } = skill;
  return (
    <Row>
      <Cell>{name}</Cell>
      <Cell>{description}</Cell>
      <Cell>{eligible ? "can run" : missing.join(", ")}</Cell>
      {children}
    </Row>
  );
}

function EnableSkill({ agentId, skill: { name, missing } }: { agentId: string; skill: Skill }) {
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const isEnabled = !missing.includes(DISABLED);
  const set = useMutation({
    mutationFn: () => api.agentSkills.set.mutate({ id: agentId, name, enabled: !isEnabled }),
    onSuccess: () => client.invalidateQueries({ queryKey: skillsKey(orgId, agentId) }),
  });
  return (
    <Cell>
      <Button
        busy={set.isPending}
        aria-label={`${isEnabled ? "Disable" : "Enable"} ${name}`}
        onClick={() => set.mutate()}
      >
        {isEnabled ? "Disable" : "Enable"}
      </Button>
      <ErrorNotice error={set.error} />
    </Cell>
  );
}
