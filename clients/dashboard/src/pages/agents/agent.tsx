import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { SubmitEvent } from "react";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { usePathParameter } from "../../page-params.ts";
import { Button } from "../../ui/button.tsx";
import { DetailPage } from "../../ui/detail-page.tsx";
import { Field, readText } from "../../ui/field.tsx";
import { ErrorNotice, Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { RequireRole } from "../../ui/require-role.tsx";
import { AgentMemories } from "./agent-memories.tsx";
import { AgentSessions } from "./agent-sessions.tsx";
import { AgentSkills } from "./agent-skills.tsx";
import { AgentWorkspace } from "./agent-workspace.tsx";
import { GatewayToken } from "./gateway-token.tsx";
import { InstructionsPanel } from "./instructions.tsx";

type Agent = Awaited<ReturnType<Api["agents"]["get"]["query"]>>;

/** One agent: its settings, gateway token, instructions, skills, memory and sessions. */
export function AgentPage() {
  const agentId = usePathParameter("id");
  const { id: orgId, api } = useOrganization();
  const agent = useQuery({ queryKey: ["agent", orgId, agentId], queryFn: () => api.agents.get.query({ id: agentId }) });
  return (
    <DetailPage title={agent.data?.name ?? "Agent"} list={{ to: "/agents", label: "All agents" }} query={agent}>
      {(data) => (
        <>
          {isHosted(data) ? <HostedSettings agent={data} /> : <SettingsPanel agent={data} />}
          <TokenPanel agent={data} />
          <InstructionsPanel agentId={agentId} />
          <AgentSkills agentId={agentId} isHosted={isHosted(data)} />
          <AgentMemories agentId={agentId} />
          {!isHosted(data) && <AgentWorkspace agentId={agentId} />}
          <AgentSessions agentId={agentId} serverId={data.server_id} isHosted={isHosted(data)} />
        </>
      )}
    </DetailPage>
  );
}

/** Whether the agent is in a gateway, which keeps its sessions and skills. */
function isHosted({ server_kind: kind }: Agent): boolean {
  return kind !== "managed";
}

function HostedSettings({ agent: { model, server_name: serverName, is_main: isMain } }: { agent: Agent }) {
  return (
    <Panel title="Settings" intro={`The ${isMain ? "default agent" : "agent"} of the OpenClaw gateway ${serverName}.`}>
      <p className="text-sm">
        {model !== null && `Model: ${model}. `}Change the name and the model in OpenClaw, and upload skills there.
      </p>
    </Panel>
  );
}

function SettingsPanel({ agent }: { agent: Agent }) {
  const { agent_id: id, name, model, server_name: serverName, is_main: isMain } = agent;
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const update = useMutation({
    mutationFn: (form: FormData) =>
      api.agents.update.mutate({ id, name: readText(form, "name"), model: readText(form, "model") || null }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["agent", orgId, id] }),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    update.mutate(new FormData(event.currentTarget));
  };
  return (
    <Panel title="Settings" intro={`The ${isMain ? "main agent" : "specialized agent"} of the server ${serverName}.`}>
      <RequireRole role="admin" to="change the name and the model">
        <form className="grid items-end gap-4 sm:grid-cols-[1fr_1fr_auto]" onSubmit={submit}>
          <Field label="Name" name="name" required maxLength={100} defaultValue={name} autoComplete="off" />
          <Field label="Model" name="model" maxLength={100} defaultValue={model ?? ""} autoComplete="off" />
          <Button type="submit" busy={update.isPending}>
            Save settings
          </Button>
        </form>
        <ErrorNotice error={update.error} />
        {update.isSuccess && <Notice variant="success">Settings saved.</Notice>}
      </RequireRole>
    </Panel>
  );
}

function TokenPanel({ agent: { agent_id: id, name } }: { agent: Agent }) {
  const { api } = useOrganization();
  const issue = useMutation({
    mutationFn: () => api.tokens.issue.mutate({ kind: "gateway_token", name, agent_id: id }),
  });
  return (
    <Panel title="Gateway token" intro="With its gateway token, the agent uses the tools of the organization over MCP.">
      <RequireRole role="admin" to="issue gateway tokens">
        <Button variant="primary" busy={issue.isPending} onClick={() => issue.mutate()}>
          Issue gateway token
        </Button>
        <ErrorNotice error={issue.error} />
        {issue.data !== undefined && <GatewayToken name={name} token={issue.data.token} />}
      </RequireRole>
    </Panel>
  );
}
