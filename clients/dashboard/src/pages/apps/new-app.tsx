import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { type SubmitEvent, useState } from "react";
import { organizationSettingsQuery } from "../../organization-settings-query.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Checkbox, Field, readText, readValue, Select, TextArea } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { PageTitle } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { gitConnectionsQuery } from "../settings/git-connections-query.ts";
import { DeployLimits } from "./deploy-limits.tsx";
import { EXAMPLES } from "./examples.ts";
import { EnvFileProblems } from "./import-variables.tsx";
import { parseEnvFile } from "./parse-env-file.ts";
import { BranchField, type EnteredSource, RepositoryField } from "./source-fields.tsx";
import { useDeploy } from "./use-deploy.ts";
import { RUNTIME_OPTIONS } from "./runtime-options.ts";

/** Deploys a repository, and opens the page of its first deployment. */
export function NewAppPage() {
  return (
    <div className="mx-auto max-w-2xl space-y-5">
      <PageTitle>New app</PageTitle>
      <DeployForm />
    </div>
  );
}

function DeployForm() {
  const given = useLocation().search as Record<string, unknown>;
  const [source, setSource] = useState<EnteredSource>(() => enteredSource(given["repo"]));
  const [variables, setVariables] = useState("");
  const { problems } = parseEnvFile(variables);
  const deploy = useDeploy();
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    deploy.mutate(readDeployRequest(new FormData(event.currentTarget), source));
  };
  return (
    <form className="space-y-5" onSubmit={submit}>
      <Panel title="Source">
        <RepositoryField source={source} onChange={setSource} />
        <Examples onChoose={(repo) => setSource(enteredSource(repo))} />
        <div className="grid gap-4 sm:grid-cols-2">
          <BranchField source={source} onChange={setSource} />
          <Field
            label="Folder"
            name="root_directory"
            placeholder="Found by the build"
            hint="Of the app in a repository with several, such as apps/web"
            autoComplete="off"
          />
        </div>
        <ConnectHint />
      </Panel>
      <VariablesSection text={variables} onChange={setVariables} />
      <MoreSettings />
      <ErrorNotice error={deploy.error} />
      <div className="flex flex-wrap items-center justify-between gap-3">
        <DeployLimits />
        <Button type="submit" variant="primary" busy={deploy.isPending} disabled={problems.length > 0} className="px-6">
          {deploy.isPending ? "Deploying…" : "Deploy"}
        </Button>
      </div>
    </form>
  );
}

function enteredSource(repo: unknown): EnteredSource {
  return { repo: typeof repo === "string" ? repo : "", branch: "", chosen: null };
}

/** Without a connection, a private repository looks as if it did not exist. */
function ConnectHint() {
  const { id: orgId } = useOrganization();
  const connections = useQuery(gitConnectionsQuery(orgId));
  if (connections.data?.length !== 0) return null;
  return (
    <p className="text-muted">
      For private repositories, and to choose from a list,{" "}
      <Link to="/settings/git-connections" search={{ org: orgId }} className="underline">
        connect a git host
      </Link>
      .
    </p>
  );
}

function VariablesSection({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  return (
    <Disclosure title="Variables" hint="The first build and the first start have them already">
      <TextArea
        label="Text of a .env file"
        name="variables"
        rows={4}
        value={text}
        onChange={(event) => onChange(event.currentTarget.value)}
        placeholder={"DATABASE_URL=…\nAPI_KEY=…"}
        spellCheck={false}
        className="font-mono"
      />
      <EnvFileProblems lines={parseEnvFile(text).problems} />
      <div className="flex flex-wrap gap-x-6">
        <Checkbox label="Secrets: never shown again, and masked in logs" name="secret" defaultChecked />
        <Checkbox label="Also for builds" name="build" />
      </div>
    </Disclosure>
  );
}

function Examples({ onChoose }: { onChoose: (repo: string) => void }) {
  return (
    <div className="flex flex-wrap items-center gap-2">
      <span className="text-muted">Or an example:</span>
      {EXAMPLES.map(({ repo, name, description }) => (
        <Button key={repo} title={description} onClick={() => onChoose(repo)}>
          {name}
        </Button>
      ))}
    </div>
  );
}

function MoreSettings() {
  const { id: orgId } = useOrganization();
  const organization = useQuery(organizationSettingsQuery(orgId));
  return (
    <Disclosure title="Customization and runtime">
      {organization.data?.customization_available === false ? (
        <p className="text-muted">
          Customization by the app builder agent is not available: the operator has connected no language model.
        </p>
      ) : (
        <TextArea
          label="Customization"
          name="customization"
          rows={3}
          placeholder="Use our company colors, and add a page with contact data."
          hint="What the app builder agent should change in the source before the build."
        />
      )}
      <div className="grid items-end gap-4 sm:grid-cols-2">
        <Select label="Runtime" name="runtime" options={RUNTIME_OPTIONS} />
        <Checkbox label="The build may connect to public addresses, if the operator allows it" name="build_network" />
      </div>
    </Disclosure>
  );
}

function readDeployRequest(form: FormData, { chosen }: EnteredSource) {
  const given = (name: string) => {
    const text = readText(form, name);
    return text === "" ? {} : { [name]: text };
  };
  const runtime = readText(form, "runtime");
  const { variables } = parseEnvFile(readValue(form, "variables"));
  const kind = { secret: form.has("secret"), build: form.has("build") };
  return {
    repo: readText(form, "repo"),
    ...(chosen !== null && { host: chosen.host }),
    ...given("branch"),
    ...given("root_directory"),
    ...given("customization"),
    ...(runtime !== "" && { runtime: runtime as "worker" | "node" }),
    ...(form.has("build_network") && { build_network: true }),
    ...(variables.length > 0 && { variables: variables.map((variable) => ({ ...variable, ...kind })) }),
  };
}
