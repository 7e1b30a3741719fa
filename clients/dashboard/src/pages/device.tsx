import { useMutation } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { identity } from "../api.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { Field } from "../ui/field.tsx";
import { Notice, Problem } from "../ui/notice.tsx";

/** Where a person confirms a sign-in that was begun on a machine without a browser. */
export function DevicePage() {
  const [code, setCode] = useState(() => new URLSearchParams(location.search).get("user_code") ?? "");
  const userCode = code.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
  const answer = useMutation({
    mutationFn: async (approve: boolean) => {
      // Also ties the code to whoever is signed in here, so that nobody else can answer for it.
      await identity(`/device?${new URLSearchParams({ user_code: userCode })}`);
      return identity(approve ? "/device/approve" : "/device/deny", { userCode });
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    answer.mutate(true);
  };
  if (answer.isSuccess)
    return (
      <CardPage title={answer.variables ? "Signed in" : "Refused"}>
        <Notice look={answer.variables ? "good" : "plain"}>
          {answer.variables
            ? "The device is signed in. You can close this page."
            : "The device was not signed in. You can close this page."}
        </Notice>
      </CardPage>
    );
  return (
    <CardPage title="Sign in a device">
      <form className="space-y-4" onSubmit={submit}>
        <Field
          label="Code"
          name="code"
          value={code}
          onChange={(event) => setCode(event.currentTarget.value)}
          required
          autoComplete="off"
          spellCheck={false}
          hint="The code that the device shows. Go on only if you asked for it yourself, just now."
        />
        <Problem error={answer.error} />
        <div className="flex gap-2">
          <Button type="submit" look="primary" busy={answer.isPending} disabled={userCode === ""}>
            Sign in the device
          </Button>
          <Button busy={answer.isPending} disabled={userCode === ""} onClick={() => answer.mutate(false)}>
            Refuse
          </Button>
        </div>
      </form>
    </CardPage>
  );
}
