import { useMutation } from "@tanstack/react-query";
import type { Deployment } from "../../deployments-query.ts";
import { formatError } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { showToast } from "../../show-toast.ts";
import { useOpenDeployment } from "./use-open-deployment.ts";

/** Makes an earlier deployment live again, after a question. */
export function RollBack({ deployment: { app_id: id, number } }: { deployment: Deployment }) {
  const { api } = useOrganization();
  const openDeployment = useOpenDeployment();
  const rollBack = useMutation({
    mutationFn: () => api.deployments.rollback.mutate({ id, number }),
    onSuccess: (started) => openDeployment(id, started.number),
    onError: (error) => showToast("The app was not rolled back.", formatError(error)),
  });
  return (
    <ConfirmButton
      label="Roll back"
      accessibleLabel={`Roll back to #${number}`}
      question={`Roll back to deployment #${number}?`}
      busy={rollBack.isPending}
      danger={false}
      onConfirm={() => rollBack.mutate()}
    >
      Its version goes live again in a few seconds, without a build. The SQL database keeps its data and the migrations
      of later deployments.
    </ConfirmButton>
  );
}
