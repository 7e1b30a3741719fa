import { useMutation } from "@tanstack/react-query";
import { type SubmitEvent, useState } from "react";
import { callIdentity } from "../api.ts";
import { Button } from "../ui/button.tsx";
import { CardPage } from "../ui/card-page.tsx";
import { Field } from "../ui/field.tsx";
import { Notice, ErrorNotice } from "../ui/notice.tsx";

/** Confirms the sign-in of a device without a browser. */
export function DevicePage() {
  const [code, setCode] = useState(() => new URLSearchParams(location.search).get("user_code") ?? "");
  const userCode = code.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
  const decision = useMutation({
    mutationFn: async (approve: boolean) => {
      // Binds the code to the signed-in user. No other user can approve or deny it afterwards.
      await callIdentity(`/device?${new URLSearchParams({ user_code: userCode })}`);
      return callIdentity(approve ? "/device/approve" : "/device/deny", { userCode });
    },
  });
  const submit = (event: SubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    decision.mutate(true);
  };
  if (decision.isSuccess)
    return (
      <CardPage title={decision.variables ? "Device signed in" : "Device denied"}>
        <Notice variant={decision.variables ? "success" : "plain"}>
          {decision.variables
            ? "The device is signed in. You can close this page."
            : "The device is not signed in. You can close this page."}
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
          hint="The code on the device. Continue only if you have just started this sign-in."
        />
        <ErrorNotice error={decision.error} />
        <div className="flex gap-2">
          <Button type="submit" variant="primary" busy={decision.isPending} disabled={userCode === ""}>
            Sign in device
          </Button>
          <Button busy={decision.isPending} disabled={userCode === ""} onClick={() => decision.mutate(false)}>
            Deny
          </Button>
        </div>
      </form>
    </CardPage>
  );
}
