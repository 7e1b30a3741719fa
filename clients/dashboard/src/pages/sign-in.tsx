import { useMutation, useSuspenseQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SubmitEvent } from "react";
import { callIdentity } from "../api.ts";
import { continueAfterSignIn, readOAuthRequest } from "../after-sign-in.ts";
import { signInOptionsQuery } from "../sign-in-options-query.ts";
import { readSignInError } from "../sign-in-errors.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { Field } from "../ui/field.tsx";
import { ErrorNotice, Alert } from "../ui/notice.tsx";
import { SocialButtons } from "../ui/social-buttons.tsx";

export function SignInPage() {
  const { providers, sign_up: signUpPolicy } = useSuspenseQuery(signInOptionsQuery).data;
  const error = readSignInError();
  const signIn = useMutation({
    mutationFn: (form: FormData) =>
      callIdentity<{ url?: string }>("/sign-in/email", {
        email: form.get("email"),
        password: form.get("password"),
        oauth_query: readOAuthRequest(),
      }),
    onSuccess: continueAfterSignIn,
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    signIn.mutate(new FormData(event.currentTarget));
  };
  return (
    <CardPage title="Sign in">
      {error !== null && signIn.isIdle && <Alert>{error}</Alert>}
      <form className="space-y-4" onSubmit={submit}>
        <Field label="Email" name="email" type="email" autoComplete="username" required />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <ErrorNotice error={signIn.error} />
        <Button type="submit" variant="primary" className="w-full" busy={signIn.isPending}>
          Sign in
        </Button>
      </form>
      <SocialButtons providers={providers} />
      {signUpPolicy !== "closed" && (
        <p className="text-sm">
          No account yet?{" "}
          <Link to="/sign-up" search={true} className="font-medium underline">
            Sign up
          </Link>
        </p>
      )}
    </CardPage>
  );
}
