import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { Select } from "../../ui/field.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { SecretValue } from "../../ui/secret-value.tsx";
import { useApp } from "./app-context.ts";

const OVERLAP_OPTIONS = [
  ["none", "at once"],
  ["hour", "after an hour"],
  ["day", "after a day"],
] as const;

type Overlap = (typeof OVERLAP_OPTIONS)[number][0];

/** Shows the token of an app, and replaces it. */
export function AppToken() {
  const { id, app_token: token, status } = useApp();
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const [overlap, setOverlap] = useState<Overlap>("hour");
  const [isShown, setShown] = useState(false);
  const rotate = useMutation({
    mutationFn: () => api.apps.rotateToken.mutate({ id, overlap }),
    onSuccess: async () => {
      showToast("The app has a new token.");
      await client.invalidateQueries({ queryKey: ["app", orgId, id] });
    },
  });
  return (
    <Panel title="App token" intro="Programs send it as a bearer token to call the app.">
      {isShown ? (
        <SecretValue label="Token" value={token} />
      ) : (
        <Button onClick={() => setShown(true)}>Show the token</Button>
      )}
      <div className="flex flex-wrap items-end gap-3">
        <Select
          label="A new token replaces this one"
          options={OVERLAP_OPTIONS}
          value={overlap}
          onChange={(event) => setOverlap(event.currentTarget.value as Overlap)}
        />
        <ConfirmButton
          label="Replace token"
          question="Replace the token of this app?"
          busy={rotate.isPending}
          onConfirm={() => rotate.mutate()}
        >
          Programs with the present token lose access when the chosen time has passed.
        </ConfirmButton>
      </div>
      {status !== "ready" && <HelpText>The token can be replaced when the app is ready.</HelpText>}
      <ErrorNotice error={rotate.error} />
    </Panel>
  );
}
