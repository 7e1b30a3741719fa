import { useMutation, useQuery } from "@tanstack/react-query";
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
  const options = useQuery(signInOptionsQuery);
  const firstRun = options.data?.first_run === true;
  const invitation = new URLSearchParams(location.search).get("invitation") ?? undefined;
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
    <CardPage title={firstRun ? "Set up this service" : "Sign up"}>
      <SignUpNotice
        firstRun={firstRun}
        needsInvitation={options.data?.sign_up === "invite" && invitation === undefined}
      />
      <form className="space-y-4" onSubmit={submit}>
        <Field label="Name" name="name" autoComplete="name" required maxLength={100} />
        <Field label="Email" name="email" type="email" autoComplete="username" required />
        <NewPasswordField label="Password" name="password" />
        <ErrorNotice error={signUp.error} />
        <Button type="submit" variant="primary" className="w-full" busy={signUp.isPending}>
          {firstRun ? "Set up" : "Sign up"}
        </Button>
      </form>
      <SocialButtons
        providers={options.data?.providers ?? []}
        next={invitation === undefined ? undefined : `/invitations/${invitation}`}
      />
      {!firstRun && <SignInLink />}
    </CardPage>
  );
}

function SignUpNotice({ firstRun, needsInvitation }: { firstRun: boolean; needsInvitation: boolean }) {
  if (firstRun)
    return (
      <Notice>
        No user has signed up yet. The first user becomes the owner of the first organization, with its apps and tokens.
      </Notice>
    );
  return needsInvitation ? <Notice>You need an invitation to sign up. Open the link of your invitation.</Notice> : null;
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
