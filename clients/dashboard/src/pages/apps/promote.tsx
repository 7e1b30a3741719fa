import { useMutation } from "@tanstack/react-query";
import { formatError } from "../../api.ts";
import type { Environment } from "../../environments-query.ts";
import { useOrganization } from "../../organization.ts";
import { showToast } from "../../show-toast.ts";
import { ConfirmButton } from "../../ui/confirm-button.tsx";
import { useOpenDeployment } from "./use-open-deployment.ts";

interface Props {
  environment: Environment;
  production: Environment;
}

/** Gives the live code of an environment to production, after a question that names both commits. */
export function Promote({ environment, production }: Props) {
  const promote = usePromote(environment, production);
  if (environment.live_deployment === null || environment.status === "deleting") return null;
  return (
    <ConfirmButton
      label="Promote"
      accessibleLabel={`Promote ${environment.name}`}
      question={`Promote ${environment.name} to production?`}
      busy={promote.isPending}
      danger={false}
      onConfirm={() => promote.mutate(environment.live_deployment ?? undefined)}
    >
      <span className="block">
        Production changes from <Commit of={production} /> to <Commit of={environment} />.
      </span>
      <span className="block pt-2">
        Nothing is built. Production keeps its variables, and its SQL database gets the new migrations. Values of
        variables for builds that are in the code stay those of {environment.name}.
      </span>
    </ConfirmButton>
  );
}

function Commit({ of: { live_commit: commit, branch } }: { of: Environment }) {
  if (commit === null) return <>nothing</>;
  return (
    <span className="text-ink">
      <code>{commit.slice(0, 7)}</code>
      {branch !== null && ` (${branch})`}
    </span>
  );
}

/** The number of the deployment that the question is about goes with the request, because another one may be live by then. */
function usePromote({ name: from }: Environment, { app_id: id }: Environment) {
  const { api } = useOrganization();
  const openDeployment = useOpenDeployment();
  return useMutation({
    mutationFn: (number: number | undefined) =>
      api.environments.promote.mutate({ id, from, ...(number !== undefined && { number }) }),
    onSuccess: ({ number }) => openDeployment(id, number),
    onError: (error) => showToast(`${from} was not promoted.`, formatError(error)),
  });
}
