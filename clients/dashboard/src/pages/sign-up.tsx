import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SubmitEvent } from "react";
import { identity } from "../api.ts";
import { goOn, oauthQuery } from "../after-sign-in.ts";
import { signInOptions } from "../sign-in-options-query.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { Field, NewPasswordField } from "../ui/field.tsx";
import { Notice, Problem } from "../ui/notice.tsx";
import { SocialButtons } from "../ui/social-buttons.tsx";

/** Also the first page of a fresh installation, whose first person owns it. */
export function SignUpPage() {
  const options = useQuery(signInOptions);
  const firstRun = options.data?.first_run === true;
  const invitation = new URLSearchParams(location.search).get("invitation") ?? undefined;
  const signUp = useMutation({
    mutationFn: (form: FormData) =>
      identity<{ url?: string }>("/sign-up/email", {
        name: form.get("name"),
        email: form.get("email"),
        password: form.get("password"),
        invitationId: invitation,
        oauth_query: oauthQuery(),
      }),
    onSuccess: (answer) => (invitation === undefined ? goOn(answer) : location.assign(`/invitations/${invitation}`)),
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    signUp.mutate(new FormData(event.currentTarget));
  };
  return (
    <CardPage title={firstRun ? "Set up this service" : "Sign up"}>
      <WhoMay firstRun={firstRun} needsInvitation={options.data?.sign_up === "invite" && invitation === undefined} />
      <form className="space-y-4" onSubmit={submit}>
        <Field label="Name" name="name" autoComplete="name" required maxLength={100} />
        <Field label="Email" name="email" type="email" autoComplete="username" required />
        <NewPasswordField label="Password" name="password" />
        <Problem error={signUp.error} />
        <Button type="submit" look="primary" className="w-full" busy={signUp.isPending}>
          {firstRun ? "Set up" : "Sign up"}
        </Button>
      </form>
      <SocialButtons
        providers={options.data?.providers ?? []}
        next={invitation === undefined ? undefined : `/invitations/${invitation}`}
      />
      {!firstRun && <AlreadyHere />}
    </CardPage>
  );
}

function WhoMay({ firstRun, needsInvitation }: { firstRun: boolean; needsInvitation: boolean }) {
  if (firstRun)
    return (
      <Notice>Nobody has signed up here yet. The first person owns the first organization, its apps and tokens.</Notice>
    );
  return needsInvitation ? <Notice>Sign-up needs an invitation here: open the link that you were sent.</Notice> : null;
}

function AlreadyHere() {
  return (
    <p className="text-sm">
      Already here?{" "}
      <Link to="/sign-in" search={true} className="font-medium underline">
        Sign in
      </Link>
    </p>
  );
}
