import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { Field, readText } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { PageTitle } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { RequireRole } from "../../ui/require-role.tsx";
import { submitForm } from "../../ui/submit-form.ts";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { GatewayToken } from "./gateway-token.tsx";

type Server = Awaited<ReturnType<Api["servers"]["list"]["query"]>>["servers"][number];
type Agent = Server["agent"]["specialized_agents"][number];

const SERVERS = "servers";
const COLUMNS = ["Name", "Kind", "Model", "Actions"];

/** The servers of the organization with their agents. */
export function AgentsPage() {
  const { id: orgId, api } = useOrganization();
  const servers = useInfiniteQuery({
    queryKey: [SERVERS, orgId],
    queryFn: ({ pageParam }) => api.servers.list.query(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.servers),
  });
  return (
    <>
      <PageTitle>Agents</PageTitle>
      <QueryContent query={servers}>
        {(list) => list.map((server) => <ServerPanel key={server.server_id} server={server} />)}
      </QueryContent>
      {servers.hasNextPage && (
        <Button busy={servers.isFetchingNextPage} onClick={() => void servers.fetchNextPage()}>
          Load more servers
        </Button>
      )}
      <Panel title="New server" intro="A server has one main agent, and specialized agents beside it.">
        <RequireRole role="admin" to="create servers">
          <CreateServerForm />
        </RequireRole>
      </Panel>
    </>
  );
}

function ServerPanel({ server: { server_id: serverId, name, agent } }: { server: Server }) {
  return (
    <Panel
      title={name}
      intro="A server with its agents. Open an agent for its instructions, skills, memory and sessions."
    >
      <Table caption={`Agents of ${name}`} columns={COLUMNS}>
        <AgentRow agent={agent} kind="main" />
        {agent.specialized_agents.map((specialized) => (
          <AgentRow key={specialized.agent_id} agent={specialized} kind="specialized" />
        ))}
      </Table>
      <RequireRole role="admin" to="create agents and delete servers">
        <CreateAgentForm serverId={serverId} serverName={name} />
        <RenameServer serverId={serverId} name={name} />
        <DeleteServer serverId={serverId} name={name} />
      </RequireRole>
    </Panel>
  );
}

function AgentRow({ agent, kind }: { agent: Agent; kind: "main" | "specialized" }) {
  const { id: orgId, role } = useOrganization();
  const { agent_id: id, name, model } = agent;
  return (
    <Row>
      <Cell>
        <Link to="/agents/$id" params={{ id }} search={{ org: orgId }} className="underline">
          {name}
        </Link>
      </Cell>
      <Cell>{kind}</Cell>
      <Cell>{model}</Cell>
      <Cell>{kind === "specialized" && role !== "member" && <DeleteAgent agent={agent} />}</Cell>
    </Row>
  );
}

function DeleteAgent({ agent: { agent_id: id, name } }: { agent: Agent }) {
  const { api } = useOrganization();
  const remove = useMutation({ mutationFn: () => api.agents.delete.mutate({ id }), onSuccess: useRefresh() });
  return (
    <>
      <ConfirmButton
        label="Delete"
        accessibleLabel={`Delete ${name}`}
        question={`Delete ${name}?`}
        typed={name}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        Its tokens become invalid immediately, and its instructions and sessions are deleted. This cannot be undone.
      </ConfirmButton>
      <ErrorNotice error={remove.error} />
    </>
  );
}

function RenameServer({ serverId: id, name }: { serverId: string; name: string }) {
  const { api } = useOrganization();
  const rename = useMutation({
    mutationFn: (form: FormData) => api.servers.update.mutate({ id, name: readText(form, "name") }),
    onSuccess: useRefresh(),
  });
  return (
    <form
      aria-label={`Name of ${name}`}
      className="flex flex-wrap items-end gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        rename.mutate(new FormData(event.currentTarget));
      }}
    >
      <Field label="Name of the server" name="name" required maxLength={100} defaultValue={name} autoComplete="off" />
      <Button type="submit" busy={rename.isPending}>
        Rename
      </Button>
      <ErrorNotice error={rename.error} />
    </form>
  );
}

function DeleteServer({ serverId, name }: { serverId: string; name: string }) {
  const { api } = useOrganization();
  const remove = useMutation({
    mutationFn: () => api.servers.delete.mutate({ id: serverId }),
    onSuccess: useRefresh(),
  });
  return (
    <>
      <ConfirmButton
        label="Delete server"
        accessibleLabel={`Delete the server ${name}`}
        question={`Delete the server ${name}?`}
        typed={name}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        Its agents are deleted with their tokens, instructions and sessions. This cannot be undone.
      </ConfirmButton>
      <ErrorNotice error={remove.error} />
    </>
  );
}

function CreateAgentForm({ serverId, serverName }: { serverId: string; serverName: string }) {
  const { api } = useOrganization();
  const create = useMutation({
    mutationFn: (form: FormData) =>
      api.agents.create.mutate({ server_id: serverId, name: readText(form, "name"), ...readModel(form) }),
    onSuccess: useRefresh(),
  });
  return (
    <div className="space-y-4">
      <form
        aria-label={`New agent of ${serverName}`}
        className="grid items-end gap-4 sm:grid-cols-[1fr_1fr_auto]"
        onSubmit={(event) => submitForm(event, create.mutate)}
      >
        <Field label="Name" name="name" required maxLength={100} placeholder="Invoices" autoComplete="off" />
        <Field label="Model (optional)" name="model" maxLength={100} autoComplete="off" />
        <Button type="submit" variant="primary" busy={create.isPending}>
          Create agent
        </Button>
      </form>
      <ErrorNotice error={create.error} />
      {create.data !== undefined && <GatewayToken name={create.data.name} token={create.data.gateway_token} />}
    </div>
  );
}

function CreateServerForm() {
  const { api } = useOrganization();
  const create = useMutation({
    mutationFn: (form: FormData) => api.servers.create.mutate({ name: readText(form, "name"), ...readModel(form) }),
    onSuccess: useRefresh(),
  });
  return (
    <div className="space-y-4">
      <form
        aria-label="New server"
        className="grid items-end gap-4 sm:grid-cols-[1fr_1fr_auto]"
        onSubmit={(event) => submitForm(event, create.mutate)}
      >
        <Field label="Name" name="name" required maxLength={100} placeholder="Office" autoComplete="off" />
        <Field label="Model of the main agent (optional)" name="model" maxLength={100} autoComplete="off" />
        <Button type="submit" variant="primary" busy={create.isPending}>
          Create server
        </Button>
      </form>
      <ErrorNotice error={create.error} />
      {create.data !== undefined && (
        <GatewayToken name={create.data.agent.name} token={create.data.agent.gateway_token} />
      )}
    </div>
  );
}

/** Without a text, the model is unknown. */
function readModel(form: FormData): { model?: string } {
  const model = readText(form, "model");
  return model === "" ? {} : { model };
}

/** Returns what reads the list again. */
function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  const { id: orgId } = useOrganization();
  return () => client.invalidateQueries({ queryKey: [SERVERS, orgId] });
}
