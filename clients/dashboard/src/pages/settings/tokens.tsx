import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { SubmitEvent } from "react";
import { api } from "../../api.ts";
import { formText } from "../../form-text.ts";
import { Button } from "../../ui/button.tsx";
import { Confirm } from "../../ui/confirm-button.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { Notice, Problem } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { Secret } from "../../ui/secret-value.tsx";
import { PageTitle } from "../../ui/page-layout.tsx";
import { Cell, Table } from "../../ui/table.tsx";
import { When } from "../../ui/timestamp.tsx";

const KINDS = {
  api_key: {
    title: "API keys",
    intro: "For programs that use the REST interface. A key belongs to the organization.",
    create: "Create API key",
  },
  personal_access_token: {
    title: "Personal access tokens",
    intro: "For agents that use the tool gateway in your name. They end with your membership.",
    create: "Create personal access token",
  },
} as const;

type Kind = keyof typeof KINDS;

const LIST = ["tokens"];
const DAY_MS = 86_400_000;

export function TokensPage() {
  return (
    <>
      <PageTitle>Tokens</PageTitle>
      <TokenPanel kind="api_key" />
      <TokenPanel kind="personal_access_token" />
    </>
  );
}

function TokenPanel({ kind }: { kind: Kind }) {
  const { title, intro } = KINDS[kind];
  const tokens = useQuery({ queryKey: LIST, queryFn: () => api.tokens.list.query() });
  const own = tokens.data?.tokens.filter((token) => token.kind === kind) ?? [];
  return (
    <Panel title={title} intro={intro}>
      <NewToken kind={kind} />
      <Problem error={tokens.error} />
      {own.length > 0 && (
        <Table caption={title} columns={["Name", "Begins with", "May", "Created", "Last used", "Expires", "Actions"]}>
          {own.map((token) => (
            <TokenRow key={token.id} token={token} />
          ))}
        </Table>
      )}
    </Panel>
  );
}

const SCOPES = [
  ["everything", "everything"],
  ["deploy", "deploy"],
  ["read", "read only"],
] as const;

const LIVES = [
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "1 year"],
  ["", "never"],
] as const;

function NewToken({ kind }: { kind: Kind }) {
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: (form: FormData) => {
      const days = Number(form.get("days"));
      const expiresAt = new Date(Date.now() + days * DAY_MS).toISOString();
      return api.tokens.issue.mutate({
        kind,
        name: formText(form, "name"),
        scope: formText(form, "scope") as (typeof SCOPES)[number][0],
        ...(days > 0 && { expires_at: expiresAt }),
      });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: LIST }),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    create.mutate(new FormData(form), { onSuccess: () => form.reset() });
  };
  return (
    <div className="space-y-4">
      <form className="grid items-end gap-4 sm:grid-cols-[2fr_1fr_1fr_auto]" onSubmit={submit}>
        <Field label="Name" name="name" required maxLength={100} placeholder="What it is for" autoComplete="off" />
        <Select label="May" name="scope" options={SCOPES} />
        <Select label="Expires in" name="days" options={LIVES} defaultValue="90" />
        <Button type="submit" look="primary" busy={create.isPending}>
          {KINDS[kind].create}
        </Button>
      </form>
      <Problem error={create.error} />
      {create.data !== undefined && (
        <Notice look="good">
          <Secret label={`${create.data.name}: copy it now, it is not shown again.`} value={create.data.token} />
        </Notice>
      )}
    </div>
  );
}

type Token = Awaited<ReturnType<typeof api.tokens.list.query>>["tokens"][number];

function TokenRow({ token: { id, name, prefix, scope, created_at, last_used_at, expires_at } }: { token: Token }) {
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: () => api.tokens.revoke.mutate({ id }),
    onSuccess: () => client.invalidateQueries({ queryKey: LIST }),
  });
  return (
    <tr>
      <Cell>
        {name}
        <Problem error={revoke.error} />
      </Cell>
      <Cell>
        <code>{prefix}…</code>
      </Cell>
      <Cell>{SCOPES.find(([value]) => value === scope)?.[1] ?? scope}</Cell>
      <Cell>
        <When at={created_at} />
      </Cell>
      <Cell>
        <When at={last_used_at} />
      </Cell>
      <Cell>
        <When at={expires_at} />
      </Cell>
      <Cell>
        <Confirm
          label="Revoke"
          longLabel={`Revoke ${name}`}
          question={`Revoke ${name}?`}
          busy={revoke.isPending}
          onConfirm={() => revoke.mutate()}
        >
          Whatever uses it is refused from now on. This cannot be taken back.
        </Confirm>
      </Cell>
    </tr>
  );
}
