import { useMutation, useQuery } from "@tanstack/react-query";
import type { SubmitEvent } from "react";
import { getSession, clearAccessToken, callIdentity } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { ConnectedClients } from "../../ui/connected-clients.tsx";
import { Field, NewPasswordField } from "../../ui/field.tsx";
import { CreateOrganizationForm } from "../../ui/create-organization-form.tsx";
import { Notice, ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { PageTitle } from "../../ui/page-layout.tsx";

export function AccountPage() {
  const session = useQuery({ queryKey: ["session"], queryFn: getSession });
  return (
    <>
      <PageTitle>Account</PageTitle>
      <Panel title="User">
        <p className="text-sm">
          {session.data?.user.name}, {session.data?.user.email}
        </p>
      </Panel>
      <ConnectedClients />
      <ChangePassword />
      <CreateOrganizationForm />
    </>
  );
}

function ChangePassword() {
  const change = useMutation({
    mutationFn: (form: FormData) =>
      callIdentity("/change-password", { currentPassword: form.get("current"), newPassword: form.get("new") }),
    onSuccess: () => clearAccessToken(),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    change.mutate(new FormData(form), { onSuccess: () => form.reset() });
  };
  return (
    <Panel
      title="Password"
      intro="Changing the password ends your other sessions and revokes the access of OAuth clients."
    >
      <form className="max-w-sm space-y-4" onSubmit={submit}>
        <Field label="Current password" name="current" type="password" autoComplete="current-password" required />
        <NewPasswordField label="New password" name="new" />
        <ErrorNotice error={change.error} />
        {change.isSuccess && <Notice variant="success">Password changed.</Notice>}
        <Button type="submit" variant="primary" busy={change.isPending}>
          Change password
        </Button>
      </form>
    </Panel>
  );
}
