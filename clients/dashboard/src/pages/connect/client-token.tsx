import type { SubmitEvent } from "react";
import type { Scope } from "../../../../../domain/shared/scopes.ts";
import { useCreateToken } from "../../use-create-token.ts";
import { Button } from "../../ui/button.tsx";
import { readText } from "../../ui/field.tsx";
import { ErrorNotice, Notice } from "../../ui/notice.tsx";
import { ScopeSelect } from "../../ui/described-select.tsx";
import { SecretValue } from "../../ui/secret-value.tsx";
import type { ConnectClient } from "./clients.ts";

const DAYS = 90;

interface Props {
  /** Its title becomes the name of the token. */
  client: ConnectClient;
  /** The token that was created for this client on this page. */
  token: string | null;
  onCreated: (token: string) => void;
}

/** Creates a personal access token for a client, and shows it once. */
export function ClientToken({ client: { title, needsToken = false }, token, onCreated }: Props) {
  const create = useCreateToken();
  const submit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const scope = readText(new FormData(event.currentTarget), "scope") as Scope;
    const request = { kind: "personal_access_token", name: title, scope, days: DAYS } as const;
    create.mutate(request, { onSuccess: (created) => onCreated(created.token) });
  };
  if (token !== null)
    return (
      <Notice variant="success">
        <SecretValue
          label={`Token for ${title}: copy it or the text with it now. It is not shown again.`}
          value={token}
        />
      </Notice>
    );
  return (
    <form className="space-y-3 border-t border-line pt-4" onSubmit={submit}>
      <p className="text-muted">
        {needsToken ? `${title} requires a token.` : "Or use a token, for example on a machine without a browser."} It
        is valid for {DAYS} days, and you can revoke it at any time.
      </p>
      <div className="grid items-end gap-3 sm:grid-cols-[1fr_auto]">
        <ScopeSelect />
        <Button type="submit" busy={create.isPending}>
          Create a token for {title}
        </Button>
      </div>
      <ErrorNotice error={create.error} />
    </form>
  );
}
