import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { SCOPES } from "../../../../../domain/shared/scopes.ts";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { Field, readText, Select } from "../../ui/field.tsx";
import { Notice, ErrorNotice } from "../../ui/notice.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Panel } from "../../ui/panel.tsx";
import { submitForm } from "../../ui/submit-form.ts";
import { QueryContent } from "../../ui/query-content.tsx";
import { RequireRole } from "../../ui/require-role.tsx";
import { ScopeSummaries } from "../../ui/scope-summaries.tsx";
import { SecretValue } from "../../ui/secret-value.tsx";
import { PageTitle } from "../../ui/page-layout.tsx";
import { Cell, Row, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";

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

const TOKENS = "tokens";
const COLUMNS = ["Name", "Prefix", "Permissions", "Created", "Last used", "Expiry", "Actions"];
const DAY_MS = 86_400_000;

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
  const { id: orgId, api } = useOrganization();
  const tokens = useQuery({ queryKey: [TOKENS, orgId], queryFn: () => api.tokens.list.query() });
  return (
    <QueryContent query={tokens}>
      {({ tokens: all }) => {
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

/** The broadest scope first. */
const SCOPE_OPTIONS = SCOPES.toReversed().map((scope) => [scope, scope] as const);

const LIFETIMES = [
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "1 year"],
  ["", "never"],
] as const;

function CreateTokenForm({ kind }: { kind: Kind }) {
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const create = useMutation({
    mutationFn: (form: FormData) => {
      const days = Number(form.get("days"));
      const expiresAt = new Date(Date.now() + days * DAY_MS).toISOString();
      return api.tokens.issue.mutate({
        kind,
        name: readText(form, "name"),
        scope: readText(form, "scope") as Token["scope"],
        ...(days > 0 && { expires_at: expiresAt }),
      });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: [TOKENS, orgId] }),
  });
  return (
    <div className="space-y-4">
      <form
        className="grid items-end gap-4 sm:grid-cols-[2fr_1fr_1fr_auto]"
        onSubmit={(event) => submitForm(event, create.mutate)}
      >
        <Field label="Name" name="name" required maxLength={100} placeholder="Purpose" autoComplete="off" />
        <Select label="Permissions" name="scope" options={SCOPE_OPTIONS} />
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

type Token = Awaited<ReturnType<Api["tokens"]["list"]["query"]>>["tokens"][number];

function TokenRow({ token: { id, name, prefix, scope, created_at, last_used_at, expires_at } }: { token: Token }) {
  const client = useQueryClient();
  const { id: orgId, api } = useOrganization();
  const revoke = useMutation({
    mutationFn: () => api.tokens.revoke.mutate({ id }),
    onSuccess: () => client.invalidateQueries({ queryKey: [TOKENS, orgId] }),
  });
  return (
    <Row>
      <Cell>
        {name}
        <ErrorNotice error={revoke.error} />
      </Cell>
      <Cell>
        <code>{prefix}…</code>
      </Cell>
      <Cell>{scope}</Cell>
      <Cell>
        <Timestamp at={created_at} />
      </Cell>
      <Cell>
        <Timestamp at={last_used_at} />
      </Cell>
      <Cell>
        <Timestamp at={expires_at} />
      </Cell>
      <Cell>
        <ConfirmButton
          label="Revoke"
          accessibleLabel={`Revoke ${name}`}
          question={`Revoke ${name}?`}
          busy={revoke.isPending}
          onConfirm={() => revoke.mutate()}
        >
          Every program that uses this token loses access immediately. This cannot be undone.
        </ConfirmButton>
      </Cell>
    </Row>
  );
}
