import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { SubmitEvent } from "react";
import { identity } from "../api.ts";
import { goOn, oauthQuery } from "../after-sign-in.ts";
import { signInOptions } from "../sign-in-options-query.ts";
import { signInProblem } from "../sign-in-errors.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { Field } from "../ui/field.tsx";
import { Problem, Warning } from "../ui/notice.tsx";
import { SocialButtons } from "../ui/social-buttons.tsx";

export function SignInPage() {
  const options = useQuery(signInOptions);
  const problem = signInProblem();
  const signIn = useMutation({
    mutationFn: (form: FormData) =>
      identity<{ url?: string }>("/sign-in/email", {
        email: form.get("email"),
        password: form.get("password"),
        oauth_query: oauthQuery(),
      }),
    onSuccess: goOn,
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    signIn.mutate(new FormData(event.currentTarget));
  };
  return (
    <CardPage title="Sign in">
      {problem !== null && signIn.isIdle && <Warning>{problem}</Warning>}
      <form className="space-y-4" onSubmit={submit}>
        <Field label="Email" name="email" type="email" autoComplete="username" required />
        <Field label="Password" name="password" type="password" autoComplete="current-password" required />
        <Problem error={signIn.error} />
        <Button type="submit" look="primary" className="w-full" busy={signIn.isPending}>
          Sign in
        </Button>
      </form>
      <SocialButtons providers={options.data?.providers ?? []} />
      {options.data !== undefined && options.data.sign_up !== "closed" && (
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
