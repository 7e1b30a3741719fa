import { useQuery } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { type Token, tokensQuery } from "../../tokens-query.ts";
import { useCreateToken } from "../../use-create-token.ts";
import { Button } from "../../ui/button.tsx";
import { Field, readText, Select } from "../../ui/field.tsx";
import { Notice, ErrorNotice } from "../../ui/notice.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Panel } from "../../ui/panel.tsx";
import { submitForm } from "../../ui/submit-form.ts";
import { QueryContent } from "../../ui/query-content.tsx";
import { RequireRole } from "../../ui/require-role.tsx";
import { ScopeSelect } from "../../ui/described-select.tsx";
import { ScopeSummaries } from "../../ui/scope-summaries.tsx";
import { SecretValue } from "../../ui/secret-value.tsx";
import { PageTitle } from "../../ui/page-header.tsx";
import { Table } from "../../ui/table.tsx";
import { TokenRow } from "./token-row.tsx";

const KINDS = {
  api_key: {
    role: "admin",
    title: "API keys",
    intro: "For programs that call the REST API. An API key belongs to the organization.",
    create: "Create API key",
    empty: "No API keys yet. Create one, then send it as a bearer token to the REST API:",
    path: "/v1/apps",
  },
  personal_access_token: {
    role: "member",
    title: "Personal access tokens",
    intro: "For agents that call the tool gateway on your behalf. They become invalid when you leave the organization.",
    create: "Create personal access token",
    empty:
      "No personal access tokens yet. Create one, then enter it in an agent as the bearer token of this MCP server:",
    path: "/mcp",
  },
} as const;

type Kind = keyof typeof KINDS;

const COLUMNS = ["Name", "Prefix", "Permissions", "Created", "Last used", "Expiry", "Actions"];

export function TokensPage() {
  return (
    <>
      <PageTitle>Tokens</PageTitle>
      <TokenPanel kind="api_key" />
      <TokenPanel kind="personal_access_token" />
      <ScopeSummaries />
    </>
  );
}

function TokenPanel({ kind }: { kind: Kind }) {
  const { title, intro, role } = KINDS[kind];
  return (
    <Panel title={title} intro={intro}>
      <RequireRole role={role} to={`see, create and revoke ${title}`}>
        <CreateTokenForm kind={kind} />
        <TokenList kind={kind} />
      </RequireRole>
    </Panel>
  );
}

function TokenList({ kind }: { kind: Kind }) {
  const { title, empty, path } = KINDS[kind];
  const { id: orgId } = useOrganization();
  const tokens = useQuery(tokensQuery(orgId));
  return (
    <QueryContent query={tokens}>
      {(all) => {
        const ofKind = all.filter((token) => token.kind === kind);
        if (ofKind.length === 0)
          return (
            <EmptyState>
              <p>{empty}</p>
              <code className="wrap-anywhere">{location.origin + path}</code>
            </EmptyState>
          );
        return (
          <Table caption={title} columns={COLUMNS}>
            {ofKind.map((token) => (
              <TokenRow key={token.id} token={token} />
            ))}
          </Table>
        );
      }}
    </QueryContent>
  );
}

const LIFETIMES = [
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "1 year"],
  ["", "never"],
] as const;

function CreateTokenForm({ kind }: { kind: Kind }) {
  const create = useCreateToken();
  const submit = (form: FormData, options: { onSuccess: () => void }) => {
    const scope = readText(form, "scope") as Token["scope"];
    create.mutate({ kind, name: readText(form, "name"), scope, days: Number(form.get("days")) }, options);
  };
  return (
    <div className="space-y-4">
      <form
        className="grid items-end gap-x-4 gap-y-3 sm:grid-cols-[2fr_1fr_1fr_auto]"
        onSubmit={(event) => submitForm(event, submit)}
      >
        <Field label="Name" name="name" required maxLength={100} placeholder="Purpose" autoComplete="off" />
        <ScopeSelect />
        <Select label="Expiry" name="days" options={LIFETIMES} defaultValue="90" />
        <Button type="submit" variant="primary" busy={create.isPending}>
          {KINDS[kind].create}
        </Button>
      </form>
      <ErrorNotice error={create.error} />
      {create.data !== undefined && (
        <Notice variant="success">
          <SecretValue
            label={`${create.data.name}: copy the token now. It is not shown again.`}
            value={create.data.token}
          />
          {kind === "personal_access_token" && <ExtensionLink />}
        </Notice>
      )}
    </div>
  );
}

/** The desktop extension asks for the token when it is installed. */
function ExtensionLink() {
  return (
    <p className="mt-2">
      For a desktop application,{" "}
      <a href="/downloads/service.mcpb" download className="underline">
        download the extension
      </a>
      , open it, and enter the token.
    </p>
  );
}
