import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { type Api, formatError } from "../../api.ts";
import { downloadFile } from "../../download-file.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Checkbox, Field, readText, readValue } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { submitForm } from "../../ui/submit-form.ts";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { showToast } from "../../show-toast.ts";
import { REFRESH_MS, useApp } from "./app-context.ts";
import { ImportVariables } from "./import-variables.tsx";

type VariableList = Awaited<ReturnType<Api["variables"]["list"]["query"]>>;
type Variable = VariableList["variables"][number];

/** The environment variables of an app. */
export function VariablesTab() {
  const { id: orgId, api } = useOrganization();
  const { id } = useApp();
  const list = useQuery({
    queryKey: ["app", orgId, id, "variables"],
    queryFn: () => api.variables.list.query({ id }),
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && !data.is_applied && data.problem === null && REFRESH_MS,
  });
  return (
    <>
      <Panel
        title="Variables"
        intro="The app reads them from its environment. A change restarts the app; variables of builds take effect with the next deployment."
      >
        <QueryContent query={list}>
          {(data) => (
            <>
              <Applied list={data} />
              {data.variables.length === 0 ? (
                <EmptyState>
                  <p>No variables yet. Add one below, or import a .env file.</p>
                </EmptyState>
              ) : (
                <VariableTable variables={data.variables} />
              )}
            </>
          )}
        </QueryContent>
      </Panel>
      <Panel title="Add or change a variable">
        <SetVariable />
      </Panel>
      <Panel title="Import a .env file">
        <ImportVariables />
      </Panel>
    </>
  );
}

function Applied({ list: { is_applied: isApplied, problem, variables } }: { list: VariableList }) {
  if (problem !== null)
    return <p className="text-danger wrap-anywhere">The app runs with earlier variables: {problem}</p>;
  if (variables.length === 0) return null;
  return (
    <p role="status" className="text-muted">
      {isApplied ? "The app runs with these variables." : "The app restarts with these variables…"}
    </p>
  );
}

function VariableTable({ variables }: { variables: readonly Variable[] }) {
  return (
    <>
      <Table caption="Variables" columns={["Name", "Value", "Builds", "Changed", "Actions"]}>
        {variables.map((variable) => (
          <VariableRow key={variable.name} variable={variable} />
        ))}
      </Table>
      <Button onClick={() => downloadVariables(variables)}>Download as .env without secrets</Button>
    </>
  );
}

function VariableRow({ variable: { name, value, secret, build, updated_at: at } }: { variable: Variable }) {
  const { api } = useOrganization();
  const { id } = useApp();
  const refresh = useRefresh();
  const restore = useMutation({
    mutationFn: () => api.variables.set.mutate({ id, name, value: value ?? "", secret, build }),
    onSuccess: refresh,
    onError: (error) => showToast(`${name} was not restored.`, formatError(error)),
  });
  const remove = useMutation({
    mutationFn: () => api.variables.delete.mutate({ id, name }),
    onSuccess: async () => {
      if (value !== null) showToast(`${name} is deleted.`, { action: { label: "Undo", run: restore.mutate } });
      await refresh();
    },
    onError: (error) => showToast(`${name} was not deleted.`, formatError(error)),
  });
  return (
    <Row>
      <Cell>
        <code>{name}</code>
      </Cell>
      <Cell>
        {secret ? (
          <span className="text-muted">Secret</span>
        ) : (
          <code className="line-clamp-2 max-w-md wrap-anywhere">{value ?? "not readable"}</code>
        )}
      </Cell>
      <Cell>{build ? "yes" : "no"}</Cell>
      <Cell>
        <Timestamp at={at} />
      </Cell>
      <Cell>
        <ConfirmButton
          label="Delete"
          accessibleLabel={`Delete ${name}`}
          question={`Delete ${name}?`}
          // The value of a secret is gone.
          {...(value === null && { typed: name })}
          busy={remove.isPending}
          onConfirm={() => remove.mutate()}
        >
          The app restarts without it.
        </ConfirmButton>
      </Cell>
    </Row>
  );
}

function SetVariable() {
  const { api } = useOrganization();
  const { id } = useApp();
  const refresh = useRefresh();
  const [version, setVersion] = useState(0);
  const set = useMutation({
    mutationFn: (form: FormData) =>
      api.variables.set.mutate({
        id,
        name: readText(form, "name"),
        value: readValue(form, "value"),
        secret: form.has("secret"),
        build: form.has("build"),
      }),
    onSuccess: async ({ name }) => {
      showToast(`${name} is set.`);
      setVersion(version + 1);
      await refresh();
    },
  });
  return (
    <form key={version} className="space-y-4" onSubmit={(event) => submitForm(event, set.mutate)}>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field
          label="Name"
          name="name"
          required
          maxLength={128}
          placeholder="API_KEY"
          autoComplete="off"
          className="font-mono"
        />
        <Field label="Value" name="value" autoComplete="off" className="font-mono" />
      </div>
      <div className="flex flex-wrap items-center gap-x-6 gap-y-3">
        <Checkbox label="Secret: never shown again, and masked in logs" name="secret" defaultChecked />
        <Checkbox label="Also for builds" name="build" />
        <Button type="submit" variant="primary" busy={set.isPending} className="ml-auto">
          Set variable
        </Button>
      </div>
      <ErrorNotice error={set.error} />
    </form>
  );
}

/** Returns what reads the variables again. */
function useRefresh(): () => Promise<void> {
  const client = useQueryClient();
  const { id: orgId } = useOrganization();
  const { id } = useApp();
  return () => client.invalidateQueries({ queryKey: ["app", orgId, id, "variables"] });
}

function downloadVariables(variables: readonly Variable[]): void {
  const lines = variables.map(({ name, value, secret }) =>
    secret || value === null ? `# ${name} is a secret` : `${name}=${JSON.stringify(value)}`,
  );
  downloadFile("variables.env", "text/plain", `${lines.join("\n")}\n`);
}
