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

const FIELDS = [
  ...["github_app_id", "installation_id", "private_key"],
  ...["url", "repositories", "username", "token"],
] as const satisfies (keyof NewGitConnection)[];

/** A form that connects a git host. The service asks the host whether it accepts the token before it stores it. */
export function AddGitConnection() {
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const [kind, setKind] = useState<GitHostKind>("github");
  const create = useMutation({
    mutationFn: async (form: FormData) => api.gitConnections.create.mutate(await readConnection(kind, form)),
    onSuccess: async ({ host }) => {
      showToast("Git host connected", host);
      await client.invalidateQueries({ queryKey: [GIT_CONNECTIONS, orgId] });
    },
  });
  const problem = readFieldError(create.error, FIELDS);
  const errorOf: ErrorOf = (field) => (problem?.field === field ? problem.message : undefined);
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
        {kind === "github_app" && <AppFields errorOf={errorOf} />}
        <Field
          label="Repositories"
          name="repositories"
          placeholder={kind === "github_app" ? "All of the installation" : "All that the token can read"}
          hint="An owner, or one repository as owner/name"
          error={errorOf("repositories")}
          autoComplete="off"
          spellCheck={false}
        />
        <UsernameField kind={kind} error={errorOf("username")} />
      </div>
      <SecretField kind={kind} errorOf={errorOf} />
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

/** The app, and which account has installed it. */
function AppFields({ errorOf }: { errorOf: ErrorOf }) {
  return (
    <>
      <Field
        label="App ID"
        name="github_app_id"
        required
        hint="On the page of the app at GitHub"
        error={errorOf("github_app_id")}
        autoComplete="off"
        spellCheck={false}
      />
      <Field
        label="Installation ID"
        name="installation_id"
        inputMode="numeric"
        pattern="[0-9]+"
        title="A number"
        placeholder="Found by the service"
        hint="Only if several accounts have installed the app"
        error={errorOf("installation_id")}
        autoComplete="off"
      />
    </>
  );
}

/** Returns the error of a field, if there is one. */
type ErrorOf = (field: (typeof FIELDS)[number]) => string | undefined;

/** The token, or the private key of a GitHub App. */
export function SecretField({ kind, errorOf }: { kind: GitHostKind; errorOf: ErrorOf }) {
  const { token: hint } = GIT_HOST_KINDS[kind];
  if (kind === "github_app") return <PrivateKeyField hint={hint} error={errorOf("private_key")} />;
  return (
    <Field
      label="Token"
      name="token"
      type="password"
      required
      hint={hint}
      error={errorOf("token")}
      // Browsers offer to fill in or to store passwords otherwise.
      autoComplete="new-password"
      data-1p-ignore
    />
  );
}

function PrivateKeyField({ hint, error }: { hint: string; error: string | undefined }) {
  return (
    <Field
      label="Private key"
      name="private_key_file"
      type="file"
      accept=".pem"
      required
      hint={hint}
      error={error}
      className="py-1"
    />
  );
}

/** Reads the token or the private key of a form. */
export async function readSecret(form: FormData): Promise<{ token: string } | { private_key: string }> {
  const file = form.get("private_key_file");
  return file instanceof File ? { private_key: await file.text() } : { token: readText(form, "token") };
}

/** Leaves out empty fields. */
async function readConnection(kind: GitHostKind, form: FormData): Promise<NewGitConnection> {
  const given = (["url", "username", "repositories", "github_app_id"] as const).flatMap((name) => {
    const text = readText(form, name);
    return text === "" ? [] : [[name, text] as const];
  });
  const installation = readText(form, "installation_id");
  return {
    kind,
    ...(await readSecret(form)),
    ...(installation !== "" && { installation_id: Number(installation) }),
    ...Object.fromEntries(given),
  };
}
