import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SubmitEvent } from "react";
import { callIdentity } from "../api.ts";
import { continueAfterSignIn, readOAuthRequest } from "../after-sign-in.ts";
import { signInOptionsQuery } from "../sign-in-options-query.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { Field, NewPasswordField } from "../ui/field.tsx";
import { Notice, ErrorNotice } from "../ui/notice.tsx";
import { SocialButtons } from "../ui/social-buttons.tsx";

/** Also the first page of a new installation. The first user owns it. */
export function SignUpPage() {
  const { first_run: firstRun, sign_up: policy, providers } = useSuspenseQuery(signInOptionsQuery).data;
  const invitation = new URLSearchParams(location.search).get("invitation") ?? undefined;
  const isClosed = !firstRun && policy === "closed";
  const needsInvitation = !firstRun && policy === "invite" && invitation === undefined;
  return (
    <CardPage title={firstRun ? "Set up this service" : "Sign up"}>
      {firstRun && (
        <Notice>
          No user has signed up yet. The first user becomes the owner of the first organization, with its apps and
          tokens.
        </Notice>
      )}
      {isClosed && <Notice>Sign-up is closed. Ask the operator of this service for an account.</Notice>}
      {needsInvitation && <Notice>You need an invitation to sign up. Open the link of your invitation.</Notice>}
      {!isClosed && !needsInvitation && <SignUpForm invitation={invitation} action={firstRun ? "Set up" : "Sign up"} />}
      {/* A provider verifies email addresses, so an invited user needs no link there. */}
      {!isClosed && (
        <SocialButtons
          providers={providers}
          next={invitation === undefined ? undefined : `/invitations/${invitation}`}
        />
      )}
      {!firstRun && <SignInLink />}
    </CardPage>
  );
}

function SignUpForm({ invitation, action }: { invitation: string | undefined; action: string }) {
  const signUp = useMutation({
    mutationFn: (form: FormData) =>
      callIdentity<{ url?: string }>("/sign-up/email", {
        name: form.get("name"),
        email: form.get("email"),
        password: form.get("password"),
        invitationId: invitation,
        oauth_query: readOAuthRequest(),
      }),
    onSuccess: (response) =>
      invitation === undefined ? continueAfterSignIn(response) : location.assign(`/invitations/${invitation}`),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    signUp.mutate(new FormData(event.currentTarget));
  };
  return (
    <form className="space-y-4" onSubmit={submit}>
      <Field label="Name" name="name" autoComplete="name" required maxLength={100} />
      <Field label="Email" name="email" type="email" autoComplete="username" required />
      <NewPasswordField label="Password" name="password" />
      <ErrorNotice error={signUp.error} />
      <Button type="submit" variant="primary" className="w-full" busy={signUp.isPending}>
        {action}
      </Button>
    </form>
  );
}

function SignInLink() {
  return (
    <p className="text-sm">
      Already have an account?{" "}
      <Link to="/sign-in" search={true} className="font-medium underline">
        Sign in
      </Link>
    </p>
  );
}
