import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { HelpText } from "../../ui/help-text.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { useApp } from "./app-context.ts";
import { DeletionProgress } from "./deletion-progress.tsx";

/** Deletes an app, after its slug was typed. */
export function DeleteApp() {
  const { name } = useApp();
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  return (
    <Panel title="Delete this app">
      <HelpText>
        Its script, SQL database, files, variables, deployments and logs are deleted. This cannot be undone.
      </HelpText>
      <Button variant="danger" onClick={() => setOpen(true)}>
        Delete app
      </Button>
      <Dialog
        title={`Delete ${name}?`}
        description="The app, its SQL database, its stored files and keys, and its logs are removed."
        open={isOpen}
        onClose={close}
      >
        {isOpen && <DeleteForm onCancel={close} />}
      </Dialog>
    </Panel>
  );
}

function DeleteForm({ onCancel }: { onCancel: () => void }) {
  const { slug, status, status_message: message } = useApp();
  const [typed, setTyped] = useState("");
  const remove = useDelete();
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        remove.mutate();
      }}
    >
      <Field
        label={`Type ${slug} to confirm`}
        value={typed}
        autoComplete="off"
        onChange={(event) => setTyped(event.currentTarget.value)}
      />
      {(remove.isPending || status === "deleting") && <DeletionProgress message={message} />}
      <ErrorNotice error={remove.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Keep</Button>
        <Button type="submit" variant="danger" busy={remove.isPending} disabled={typed !== slug}>
          Delete app
        </Button>
      </div>
    </form>
  );
}

function useDelete() {
  const app = useApp();
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: () => api.apps.delete.mutate({ id: app.id }),
    onSuccess: async () => {
      showToast(`${app.name} is deleted.`);
      await navigate({ to: "/apps", search: { org: orgId } });
      client.removeQueries({ queryKey: ["app", orgId, app.id] });
      await client.invalidateQueries({ queryKey: ["apps", orgId] });
    },
  });
}
