import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { Field, readText, Select } from "../../ui/field.tsx";
import { Alert } from "../../ui/notice.tsx";
import { submitForm } from "../../ui/submit-form.ts";
import { readFieldError } from "./field-error.ts";
import { GIT_CONNECTIONS, type GitHostKind, type NewGitConnection } from "./git-connections-query.ts";
import { GIT_HOST_KINDS, KIND_OPTIONS } from "./git-host-kinds.ts";

const FIELDS = ["url", "repositories", "username", "token"] as const;

/** A form that connects a git host. The service asks the host whether it accepts the token before it stores it. */
export function AddGitConnection() {
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const [kind, setKind] = useState<GitHostKind>("github");
  const create = useMutation({
    mutationFn: (form: FormData) => api.gitConnections.create.mutate(readConnection(kind, form)),
    onSuccess: async ({ host }) => {
      showToast("Git host connected", host);
      await client.invalidateQueries({ queryKey: [GIT_CONNECTIONS, orgId] });
    },
  });
  const problem = readFieldError(create.error, FIELDS);
  const errorOf = (field: (typeof FIELDS)[number]) => (problem?.field === field ? problem.message : undefined);
  return (
    <form
      aria-label="Connect a git host"
      className="space-y-4"
      onSubmit={(event) => submitForm(event, (form, options) => create.mutate(form, options))}
    >
      <div className="grid items-start gap-4 sm:grid-cols-2">
        <Select
          label="Kind"
          options={KIND_OPTIONS}
          value={kind}
          onChange={({ target }) => {
            setKind(target.value as GitHostKind);
            // It is about the previous kind.
            create.reset();
          }}
        />
        <UrlField kind={kind} error={errorOf("url")} />
        <Field
          label="Repositories"
          name="repositories"
          placeholder="All that the token can read"
          hint="An owner, or one repository as owner/name"
          error={errorOf("repositories")}
          autoComplete="off"
          spellCheck={false}
        />
        <UsernameField kind={kind} error={errorOf("username")} />
      </div>
      <TokenField kind={kind} error={errorOf("token")} />
      {problem?.field === null && <Alert>{problem.message}</Alert>}
      <Button type="submit" variant="primary" busy={create.isPending}>
        {create.isPending ? "Asking the host…" : "Connect"}
      </Button>
    </form>
  );
}

interface KindFieldProps {
  kind: GitHostKind;
  error: string | undefined;
}

function UrlField({ kind, error }: KindFieldProps) {
  const { url } = GIT_HOST_KINDS[kind];
  return (
    <Field
      label="URL"
      name="url"
      type="url"
      required={url === null}
      placeholder={url ?? "https://git.example.com"}
      hint={url === null ? "Of the host, without owner and name" : "Only for a host of your own"}
      error={error}
      autoComplete="off"
      spellCheck={false}
    />
  );
}

/** The user name of a token that needs one. */
export function UsernameField({ kind, error }: KindFieldProps) {
  const { username } = GIT_HOST_KINDS[kind];
  if (username === null) return null;
  return (
    <Field
      label="User name"
      name="username"
      hint={username}
      error={error}
      autoComplete="off"
      autoCapitalize="none"
      spellCheck={false}
    />
  );
}

export function TokenField({ kind, error }: KindFieldProps) {
  return (
    <Field
      label="Token"
      name="token"
      type="password"
      required
      hint={GIT_HOST_KINDS[kind].token}
      error={error}
      // Browsers offer to fill in or to store passwords otherwise.
      autoComplete="new-password"
      data-1p-ignore
    />
  );
}

/** Leaves out empty fields. */
function readConnection(kind: GitHostKind, form: FormData): NewGitConnection {
  const given = (["url", "username", "repositories"] as const).flatMap((name) => {
    const text = readText(form, name);
    return text === "" ? [] : [[name, text] as const];
  });
  return { kind, token: readText(form, "token"), ...Object.fromEntries(given) };
}
