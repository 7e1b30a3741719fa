import { useMutation, useQuery } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { organizationSettingsQuery } from "../../organization-settings-query.ts";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { formatError } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, readText, TextArea } from "../../ui/field.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { useApp } from "./app-context.ts";
import { useOpenDeployment } from "./use-open-deployment.ts";

interface Request {
  branch?: string;
  commit?: string;
  customization?: string;
}

/** Deploys the newest commit of an app again, or another branch or commit, or with a customization. Without a repository, the last upload. */
export function Redeploy() {
  const { id: orgId } = useOrganization();
  const { status, repo } = useApp();
  const { data: settings } = useQuery(organizationSettingsQuery(orgId));
  const [isOpen, setOpen] = useState(false);
  const redeploy = useRedeploy();
  const isGone = status === "deleting";
  return (
    <>
      {(repo !== null || settings?.customization_available === true) && (
        <Button disabled={isGone} onClick={() => setOpen(true)}>
          Redeploy with…
        </Button>
      )}
      <Button
        busy={redeploy.isPending}
        disabled={isGone}
        onClick={() =>
          redeploy.mutate({}, { onError: (error) => showToast("The app was not deployed again.", formatError(error)) })
        }
      >
        <RotateCw aria-hidden className="size-4" />
        Redeploy
      </Button>
      <Dialog
        title="Redeploy with…"
        description="The live version serves until the new one is ready, and stays if that fails."
        open={isOpen}
        onClose={() => setOpen(false)}
      >
        {isOpen && <RedeployForm onDone={() => setOpen(false)} />}
      </Dialog>
    </>
  );
}

function RedeployForm({ onDone }: { onDone: () => void }) {
  const { id: orgId } = useOrganization();
  const { branch } = useApp();
  const { data: settings } = useQuery(organizationSettingsQuery(orgId));
  const redeploy = useRedeploy();
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        redeploy.mutate(readRequest(new FormData(event.currentTarget)), { onSuccess: onDone });
      }}
    >
      {branch !== null && (
        <>
          <Field label="Branch" name="branch" placeholder={branch} autoComplete="off" />
          <Field
            label="Commit"
            name="commit"
            placeholder="The newest of the branch"
            hint="The full id, of 40 hexadecimal digits"
            autoComplete="off"
            className="font-mono"
          />
        </>
      )}
      {settings?.customization_available === true && (
        <TextArea
          label="Customization"
          name="customization"
          rows={3}
          hint="What the app builder agent should change, on top of the changes that are live."
        />
      )}
      <ErrorNotice error={redeploy.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" busy={redeploy.isPending}>
          Deploy
        </Button>
      </div>
    </form>
  );
}

function readRequest(form: FormData): Request {
  const names = (["branch", "commit", "customization"] as const).filter((name) => form.has(name));
  return Object.fromEntries(names.map((name) => [name, readText(form, name)]).filter(([, text]) => text !== ""));
}

/** Starts a deployment, and opens its page. */
function useRedeploy() {
  const { api } = useOrganization();
  const { id } = useApp();
  const openDeployment = useOpenDeployment();
  return useMutation({
    mutationFn: (request: Request) => api.deployments.redeploy.mutate({ id, ...request }),
    onSuccess: ({ number }) => openDeployment(id, number),
  });
}
