import { useMutation, useQuery } from "@tanstack/react-query";
import { clearAccessToken, callIdentity } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { ConnectedClients } from "../../ui/connected-clients.tsx";
import { Field, NewPasswordField } from "../../ui/field.tsx";
import { CreateOrganizationForm } from "../../ui/create-organization-form.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { Notice, ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { submitForm } from "../../ui/submit-form.ts";
import { PageTitle } from "../../ui/page-header.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { PROVIDER_NAMES } from "../../ui/social-buttons.tsx";
import { ProfilePanel } from "./profile-panel.tsx";
import { SessionsPanel } from "./sessions-panel.tsx";

export function AccountPage() {
  return (
    <>
      <PageTitle>Account</PageTitle>
      <ProfilePanel />
      <ConnectedClients />
      <PasswordPanel />
      <SessionsPanel />
      <CreateOrganizationForm />
    </>
  );
}

interface SignInMethod {
  /** `credential`: a password. */
  providerId: string;
}

function PasswordPanel() {
  const methods = useQuery({
    queryKey: ["sign-in-methods"],
    queryFn: () => callIdentity<SignInMethod[]>("/list-accounts"),
  });
  return (
    <Panel title="Password">
      <QueryContent query={methods}>
        {(list) =>
          list.some(({ providerId }) => providerId === "credential") ? (
            <ChangePasswordForm />
          ) : (
            <HelpText>Your account has no password. You sign in with {list.map(nameOf).join(" or ")}.</HelpText>
          )
        }
      </QueryContent>
    </Panel>
  );
}

function nameOf({ providerId }: SignInMethod): string {
  return PROVIDER_NAMES[providerId as keyof typeof PROVIDER_NAMES] ?? providerId;
}

function ChangePasswordForm() {
  const change = useMutation({
    mutationFn: (form: FormData) =>
      callIdentity("/change-password", { currentPassword: form.get("current"), newPassword: form.get("new") }),
    onSuccess: () => clearAccessToken(),
  });
  return (
    <>
      <HelpText>Changing the password ends your other sessions and revokes the access of OAuth clients.</HelpText>
      <form className="max-w-sm space-y-4" onSubmit={(event) => submitForm(event, change.mutate)}>
        <Field label="Current password" name="current" type="password" autoComplete="current-password" required />
        <NewPasswordField label="New password" name="new" />
        <ErrorNotice error={change.error} />
        {change.isSuccess && <Notice variant="success">Password changed.</Notice>}
        <Button type="submit" variant="primary" busy={change.isPending}>
          Change password
        </Button>
      </form>
    </>
  );
}
