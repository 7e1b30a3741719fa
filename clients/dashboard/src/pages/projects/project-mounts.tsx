import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { SubmitEvent } from "react";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { readText, Select } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { type ProjectDetail, projectKey } from "./project-queries.ts";

/** The agents on which a project is mounted. */
export function ProjectMounts({ project }: { project: ProjectDetail }) {
  const { project_id: id, agents } = project;
  return (
    <Panel title="Agents" intro="The agents on which the project is mounted. No other agent can search it.">
      {agents.length === 0 ? (
        <EmptyState>
          <p>The project is not mounted on any agent.</p>
          <p>Mount it on the agents that should search its documents.</p>
        </EmptyState>
      ) : (
        <Table caption="Agents of the project" columns={["Name", "Actions"]}>
          {agents.map((agent) => (
            <Row key={agent.agent_id}>
              <Cell>{agent.name}</Cell>
              <Cell>
                <Unmount projectId={id} agent={agent} />
              </Cell>
            </Row>
          ))}
        </Table>
      )}
      <MountForm project={project} />
    </Panel>
  );
}

/** Shows the project again after a change of its mounts. */
function useMountChange(projectId: string, mutationFn: (agentId: string) => Promise<unknown>) {
  const client = useQueryClient();
  const { id: orgId } = useOrganization();
  return useMutation({
    mutationFn,
    onSuccess: () => client.invalidateQueries({ queryKey: projectKey(orgId, projectId) }),
  });
}

interface UnmountProps {
  projectId: string;
  agent: { agent_id: string; name: string };
}

function Unmount({ projectId: id, agent: { agent_id: agentId, name } }: UnmountProps) {
  const { api } = useOrganization();
  const unmount = useMountChange(id, (agent_id) => api.projects.unmount.mutate({ id, agent_id }));
  return (
    <>
      <Button aria-label={`Unmount from ${name}`} busy={unmount.isPending} onClick={() => unmount.mutate(agentId)}>
        Unmount
      </Button>
      <ErrorNotice error={unmount.error} />
    </>
  );
}

function MountForm({ project: { project_id: id, agents } }: { project: ProjectDetail }) {
  const { id: orgId, api } = useOrganization();
  const mount = useMountChange(id, (agent_id) => api.projects.mount.mutate({ id, agent_id }));
  const servers = useQuery({
    queryKey: ["servers", orgId, "all"],
    queryFn: () => api.servers.list.query({ limit: 100 }),
  });
  const options = (servers.data?.servers ?? [])
    .flatMap(({ name: server, agent }) => [agent, ...agent.specialized_agents].map((each) => ({ ...each, server })))
    .filter(({ agent_id: agentId }) => !agents.some((mounted) => mounted.agent_id === agentId))
    .map(({ agent_id: agentId, name, server }) => [agentId, `${name} (${server})`] as const);
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    mount.mutate(readText(new FormData(event.currentTarget), "agent"));
  };
  if (options.length === 0) return <ErrorNotice error={servers.error} />;
  return (
    <>
      <form aria-label="Mount the project" className="grid items-end gap-4 sm:grid-cols-[1fr_auto]" onSubmit={submit}>
        <Select label="Agent" name="agent" options={options} />
        <Button type="submit" busy={mount.isPending}>
          Mount
        </Button>
      </form>
      <ErrorNotice error={mount.error} />
    </>
  );
}
