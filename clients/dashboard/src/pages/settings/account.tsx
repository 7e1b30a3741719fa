import { useMutation, useQuery } from "@tanstack/react-query";
import type { SubmitEvent } from "react";
import { currentSession, forgetToken, identity } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { Field, NewPasswordField } from "../../ui/field.tsx";
import { NewOrganization } from "../../ui/create-organization-form.tsx";
import { Notice, Problem } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { PageTitle } from "../../ui/page-layout.tsx";

export function AccountPage() {
  const session = useQuery({ queryKey: ["session"], queryFn: currentSession });
  return (
    <>
      <PageTitle>Account</PageTitle>
      <Panel title="You">
        <p className="text-sm">
          {session.data?.user.name}, {session.data?.user.email}
        </p>
      </Panel>
      <ChangePassword />
      <NewOrganization />
    </>
  );
}

function ChangePassword() {
  const change = useMutation({
    mutationFn: (form: FormData) =>
      identity("/change-password", { currentPassword: form.get("current"), newPassword: form.get("new") }),
    onSuccess: () => forgetToken(),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    change.mutate(new FormData(form), { onSuccess: () => form.reset() });
  };
  return (
    <Panel title="Password" intro="Every other session of yours, and every client that you let in, is signed out.">
      <form className="max-w-sm space-y-4" onSubmit={submit}>
        <Field label="Current password" name="current" type="password" autoComplete="current-password" required />
        <NewPasswordField label="New password" name="new" />
        <Problem error={change.error} />
        {change.isSuccess && <Notice look="good">The password is changed.</Notice>}
        <Button type="submit" look="primary" busy={change.isPending}>
          Change password
        </Button>
      </form>
    </Panel>
  );
}
