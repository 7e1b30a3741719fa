import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type Api, callIdentity } from "../../api.ts";
import { reloadMemberships } from "../../memberships.ts";
import { organizationSettingsQuery } from "../../organization-settings-query.ts";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { Field, readText, Select } from "../../ui/field.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { ErrorNotice, Notice } from "../../ui/notice.tsx";
import { PageTitle } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { RequireRole } from "../../ui/require-role.tsx";

type Settings = Awaited<ReturnType<Api["organization"]["get"]["query"]>>;

const LABELS = {
  all: "All: each procedure of an app with five or fewer is a tool",
  none: "None: agents search for procedures and execute programs",
} as const;

const OPTIONS = Object.entries(LABELS);

export function OrganizationPage() {
  const { id } = useOrganization();
  const settings = useQuery(organizationSettingsQuery(id));
  return (
    <>
      <PageTitle>Organization</PageTitle>
      <Panel title="Name">
        <RequireRole role="admin" to="rename the organization">
          <RenameOrganization />
        </RequireRole>
      </Panel>
      <Panel
        title="Direct tools"
        intro="Agents get the procedures of small apps as tools of their own, beside the tools of the service."
      >
        <QueryContent query={settings}>{(data) => <DirectTools settings={data} />}</QueryContent>
      </Panel>
    </>
  );
}

function RenameOrganization() {
  const client = useQueryClient();
  const { id: organizationId, name } = useOrganization();
  const rename = useMutation({
    mutationFn: (form: FormData) =>
      callIdentity("/organization/update", { organizationId, data: { name: readText(form, "name") } }),
    onSuccess: async () => {
      await reloadMemberships(client);
      showToast("Organization renamed");
    },
  });
  return (
    <form
      className="max-w-sm space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        rename.mutate(new FormData(event.currentTarget));
      }}
    >
      <Field label="Organization name" name="name" defaultValue={name} required maxLength={100} autoComplete="off" />
      <ErrorNotice error={rename.error} />
      <Button type="submit" busy={rename.isPending}>
        Rename
      </Button>
    </form>
  );
}

function DirectTools({ settings }: { settings: Settings }) {
  const { direct_tools: directTools, tool_count: toolCount, recommended_direct_tools: recommended } = settings;
  return (
    <>
      {directTools === "all" && recommended === "none" && (
        <Notice>
          Agents get {toolCount} tools. With more than 60, many models choose worse tools, and some clients leave tools
          out. None is recommended.
        </Notice>
      )}
      <RequireRole role="admin" to="change the direct tools">
        <DirectToolsSelect current={directTools} />
      </RequireRole>
      <HelpText>
        {directTools === "all"
          ? `Agents get ${toolCount} tools.`
          : "Agents get the tools of the service. They call the procedures of all apps with service_execute."}
      </HelpText>
    </>
  );
}

function DirectToolsSelect({ current }: { current: Settings["direct_tools"] }) {
  const client = useQueryClient();
  const { id, api } = useOrganization();
  const change = useMutation({
    mutationFn: (next: string) => api.organization.update.mutate({ direct_tools: next === "none" ? "none" : "all" }),
    onSuccess: (settings) => client.setQueryData(["organization", id], settings),
  });
  return (
    <>
      <Select
        label="Procedures of apps as tools"
        options={OPTIONS}
        value={change.isPending ? change.variables : current}
        // Not `disabled`: the browser takes the focus away from a disabled control.
        aria-disabled={change.isPending}
        onChange={(event) => change.isPending || change.mutate(event.currentTarget.value)}
      />
      <ErrorNotice error={change.error} />
    </>
  );
}
