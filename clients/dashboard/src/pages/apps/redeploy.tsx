import { useMutation, useQuery } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import { useState } from "react";
import { organizationSettingsQuery } from "../../organization-settings-query.ts";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { formatError } from "../../api.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, readGiven, TextArea } from "../../ui/field.tsx";
import { Alert } from "../../ui/notice.tsx";
import { useApp } from "./app-context.ts";
import { SourceUpload } from "./source-upload.tsx";
import type { UploadedSource } from "./uploaded-source.ts";
import { useOpenDeployment } from "./use-open-deployment.ts";
import { explain, useUploadSource } from "./use-upload-source.ts";

interface Request {
  branch?: string;
  commit?: string;
  customization?: string;
}

/** Deploys the newest commit of an app again, or another branch or commit, or with a customization. Without a repository, the last upload or a new one. */
export function Redeploy() {
  const { status, repo } = useApp();
  const [isOpen, setOpen] = useState(false);
  const redeploy = useRedeploy();
  const isGone = status === "deleting";
  return (
    <>
      <Button disabled={isGone} onClick={() => setOpen(true)}>
        {repo === null ? "Upload…" : "Redeploy with…"}
      </Button>
      <Button
        busy={redeploy.isPending}
        disabled={isGone}
        onClick={() =>
          redeploy.mutate(
            { request: {} },
            { onError: (error) => showToast("The app was not deployed again.", formatError(error)) },
          )
        }
      >
        <RotateCw aria-hidden className="size-4" />
        Redeploy
      </Button>
      <Dialog
        title={repo === null ? "Upload a new version" : "Redeploy with…"}
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
  const [source, setSource] = useState<UploadedSource | null>(null);
  const redeploy = useRedeploy();
  const canCustomize = settings?.customization_available === true;
  const isIncomplete = branch === null && source === null && !canCustomize;
  return (
    <form
      className="space-y-4"
      onSubmit={(event) => {
        event.preventDefault();
        const request = readGiven(new FormData(event.currentTarget), ["branch", "commit", "customization"]);
        redeploy.mutate({ request, ...(source !== null && { source }) }, { onSuccess: onDone });
      }}
    >
      {branch === null && <SourceUpload source={source} onChange={setSource} />}
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
      {canCustomize && (
        <TextArea
          label="Customization"
          name="customization"
          rows={3}
          hint="What the app builder agent should change, on top of the changes that are live."
        />
      )}
      {redeploy.error !== null && <Alert>{explain(redeploy.error)}</Alert>}
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" variant="primary" busy={redeploy.isPending} disabled={isIncomplete}>
          Deploy
        </Button>
      </div>
    </form>
  );
}

/** Starts a deployment, and opens its page. */
function useRedeploy() {
  const { api } = useOrganization();
  const { id } = useApp();
  const upload = useUploadSource();
  const openDeployment = useOpenDeployment();
  return useMutation({
    mutationFn: async ({ request, source }: { request: Request; source?: UploadedSource }) => {
      const archive = await upload(source);
      return api.deployments.redeploy.mutate({ id, ...request, ...archive });
    },
    onSuccess: ({ number }) => openDeployment(id, number),
  });
}
