import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "@tanstack/react-router";
import { type ReactNode, type SubmitEvent, useState } from "react";
import { organizationSettingsQuery } from "../../organization-settings-query.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Disclosure } from "../../ui/disclosure.tsx";
import { Checkbox, Field, readGiven, readText, readValue, Select, TextArea } from "../../ui/field.tsx";
import { Alert } from "../../ui/notice.tsx";
import { PageTitle } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { ToggleGroup } from "../../ui/toggle-group.tsx";
import { gitConnectionsQuery } from "../settings/git-connections-query.ts";
import { DeployLimits } from "./deploy-limits.tsx";
import { EXAMPLES } from "./examples.ts";
import { ImportApp } from "./import-app.tsx";
import { EnvFileProblems } from "./import-variables.tsx";
import { parseEnvFile } from "./parse-env-file.ts";
import { SourceUpload } from "./source-upload.tsx";
import { BranchField, type EnteredSource, RepositoryField } from "./source-fields.tsx";
import type { UploadedSource } from "./uploaded-source.ts";
import { useDeploy } from "./use-deploy.ts";
import { explain } from "./use-upload-source.ts";
import { RUNTIME_OPTIONS } from "./runtime-options.ts";

/** Where an app comes from. */
const ORIGINS = [
  ["repository", "Git repository"],
  ["upload", "Upload"],
  ["export", "Export of an app"],
] as const;

type Origin = (typeof ORIGINS)[number][0];

/** Deploys a repository, uploaded files or an export, and opens the page of the first deployment. */
export function NewAppPage() {
  const [origin, setOrigin] = useState<Origin>("repository");
  const choice = <ToggleGroup label="Where the app comes from" value={origin} options={ORIGINS} onChange={setOrigin} />;
  return (
    <div className="mx-auto max-w-2xl space-y-5">
      <PageTitle>New app</PageTitle>
      {origin === "export" ? (
        <Panel title="Source">
          {choice}
          <ImportApp />
        </Panel>
      ) : (
        <DeployForm origin={origin} choice={choice} />
      )}
    </div>
  );
}

function DeployForm({ origin, choice }: { origin: Exclude<Origin, "export">; choice: ReactNode }) {
  const given = useLocation().search as Record<string, unknown>;
  const [repository, setRepository] = useState<EnteredSource>(() => enteredSource(given["repo"]));
  const [upload, setUpload] = useState<UploadedSource | null>(null);
  const [variables, setVariables] = useState("");
  const { problems } = parseEnvFile(variables);
  const deploy = useDeploy();
  const isIncomplete = origin === "upload" && upload === null;
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    if (origin === "repository")
      deploy.mutate({ request: { ...readRepository(form, repository), ...readSettings(form) } });
    else if (upload !== null)
      deploy.mutate({ request: { name: readText(form, "name"), ...readSettings(form) }, source: upload });
  };
  return (
    <form className="space-y-5" onSubmit={submit}>
      <Panel title="Source">
        {choice}
        {origin === "repository" ? (
          <RepositorySource source={repository} onChange={setRepository} />
        ) : (
          <UploadSource source={upload} onChange={setUpload} />
        )}
      </Panel>
      <VariablesSection text={variables} onChange={setVariables} />
      <MoreSettings />
      {deploy.error !== null && <Alert>{explain(deploy.error)}</Alert>}
      <div className="flex flex-wrap items-center justify-between gap-3">
        <DeployLimits />
        <Button
          type="submit"
          variant="primary"
          busy={deploy.isPending}
          disabled={problems.length > 0 || isIncomplete}
          className="px-6"
        >
          {deploy.isPending ? "Deploying…" : "Deploy"}
        </Button>
      </div>
    </form>
  );
}

function RepositorySource({ source, onChange }: { source: EnteredSource; onChange: (source: EnteredSource) => void }) {
  return (
    <>
      <RepositoryField source={source} onChange={onChange} />
      <Examples onChoose={(repo) => onChange(enteredSource(repo))} />
      <div className="grid gap-4 sm:grid-cols-2">
        <BranchField source={source} onChange={onChange} />
        <FolderField />
      </div>
      <ConnectHint />
    </>
  );
}

function UploadSource(props: { source: UploadedSource | null; onChange: (source: UploadedSource | null) => void }) {
  const { source } = props;
  return (
    <>
      <SourceUpload {...props} />
      {source !== null && (
        <div className="grid gap-4 sm:grid-cols-2">
          {/* Another source has another name. */}
          <Field key={source.name} label="Name" name="name" required maxLength={100} defaultValue={source.name} />
          <FolderField />
        </div>
      )}
    </>
  );
}

function FolderField() {
  return (
    <Field
      label="Folder"
      name="root_directory"
      placeholder="Found by the build"
      hint="Of the app, if the source has several, such as apps/web"
      autoComplete="off"
    />
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

function readRepository(form: FormData, { chosen }: EnteredSource) {
  return {
    repo: readText(form, "repo"),
    ...(chosen !== null && { host: chosen.host }),
    ...readGiven(form, ["branch"]),
  };
}

function readSettings(form: FormData) {
  const runtime = readText(form, "runtime");
  const { variables } = parseEnvFile(readValue(form, "variables"));
  const kind = { secret: form.has("secret"), build: form.has("build") };
  return {
    ...readGiven(form, ["root_directory", "customization"]),
    ...(runtime !== "" && { runtime: runtime as "worker" | "node" }),
    ...(form.has("build_network") && { build_network: true }),
    ...(variables.length > 0 && { variables: variables.map((variable) => ({ ...variable, ...kind })) }),
  };
}
