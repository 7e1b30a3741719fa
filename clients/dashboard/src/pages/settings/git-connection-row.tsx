import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { reachesRole } from "../../../../../domain/shared/roles.ts";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { readText } from "../../ui/field.tsx";
import { Alert, ErrorNotice } from "../../ui/notice.tsx";
import { submitForm } from "../../ui/submit-form.ts";
import { Cell, Row } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";
import { readSecret, SecretField, UsernameField } from "./add-git-connection.tsx";
import { readFieldError } from "./field-error.ts";
import { GIT_CONNECTIONS, type GitConnection } from "./git-connections-query.ts";
import { GIT_HOST_KINDS } from "./git-host-kinds.ts";

/** A connected git host, whose token can be replaced, and which can be deleted. */
export function GitConnectionRow({ connection }: { connection: GitConnection }) {
  const { id: orgId, api, role } = useOrganization();
  const client = useQueryClient();
  const { id, kind, host, url, repositories, github_app_id, checked_at, created_at } = connection;
  const remove = useMutation({
    mutationFn: () => api.gitConnections.delete.mutate({ id }),
    onSuccess: () => client.invalidateQueries({ queryKey: [GIT_CONNECTIONS, orgId] }),
  });
  return (
    <Row>
      <Cell>
        <span title={url} className="font-medium">
          {host}
        </span>
        <div className="text-muted">
          {github_app_id === null ? GIT_HOST_KINDS[kind].label : `GitHub App ${github_app_id}`}
        </div>
        <ErrorNotice error={remove.error} />
      </Cell>
      <Cell>{repositories ?? <span className="text-muted">all that the token can read</span>}</Cell>
      <Cell>
        {checked_at === null ? <span className="text-muted">not checked</span> : <Timestamp at={checked_at} />}
      </Cell>
      <Cell>
        <Timestamp at={created_at} />
      </Cell>
      <Cell>
        {reachesRole(role, "admin") && (
          <span className="inline-flex flex-wrap gap-2">
            <ReplaceToken connection={connection} />
            <ConfirmButton
              label="Delete"
              accessibleLabel={`Delete ${describe(connection)}`}
              question={`Delete the connection to ${describe(connection)}?`}
              busy={remove.isPending}
              onConfirm={() => remove.mutate()}
            >
              Live apps keep running. What reads its private repositories fails from now on: deployments, uploads of
              skills, and the daily reading of sources of knowledge. {host} still accepts the token until you revoke it
              there.
            </ConfirmButton>
          </span>
        )}
      </Cell>
    </Row>
  );
}

function describe({ host, repositories }: GitConnection): string {
  return repositories === null ? host : `${host} for ${repositories}`;
}

function ReplaceToken({ connection }: { connection: GitConnection }) {
  const [isOpen, setOpen] = useState(false);
  const secret = connection.kind === "github_app" ? "key" : "token";
  return (
    <>
      <Button aria-label={`Replace ${secret} of ${describe(connection)}`} onClick={() => setOpen(true)}>
        Replace {secret}
      </Button>
      <Dialog
        title={`Replace the ${secret} for ${describe(connection)}`}
        description={`The host is asked whether it accepts the new ${secret}. Until then, the present one is used.`}
        open={isOpen}
        onClose={() => setOpen(false)}
      >
        {isOpen && <ReplaceTokenForm connection={connection} onDone={() => setOpen(false)} />}
      </Dialog>
    </>
  );
}

interface ReplaceTokenFormProps {
  connection: GitConnection;
  onDone: () => void;
}

function ReplaceTokenForm({ connection: { id, kind, host }, onDone }: ReplaceTokenFormProps) {
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const replace = useMutation({
    mutationFn: async (form: FormData) => {
      const username = readText(form, "username");
      const secret = await readSecret(form);
      return api.gitConnections.update.mutate({ id, ...secret, ...(username !== "" && { username }) });
    },
    onSuccess: async () => {
      showToast(kind === "github_app" ? "Key replaced" : "Token replaced", host);
      await client.invalidateQueries({ queryKey: [GIT_CONNECTIONS, orgId] });
      onDone();
    },
  });
  const problem = readFieldError(replace.error, ["token", "private_key", "username"]);
  return (
    <form
      aria-label="Replace the token"
      className="space-y-4"
      onSubmit={(event) => submitForm(event, (form, options) => replace.mutate(form, options))}
    >
      <SecretField kind={kind} errorOf={(field) => (problem?.field === field ? problem.message : undefined)} />
      <UsernameField kind={kind} error={problem?.field === "username" ? problem.message : undefined} />
      {problem?.field === null && <Alert>{problem.message}</Alert>}
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" busy={replace.isPending}>
          {kind === "github_app" ? "Replace key" : "Replace token"}
        </Button>
      </div>
    </form>
  );
}
