import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { useOpenDeployment } from "./use-open-deployment.ts";

type DeployRequest = Parameters<Api["apps"]["deploy"]["mutate"]>[0];

/** Deploys a new app, and opens the page of its first deployment. */
export function useDeploy() {
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const openDeployment = useOpenDeployment();
  return useMutation({
    mutationFn: (request: DeployRequest) => api.apps.deploy.mutate(request),
    onSuccess: async ({ app_id: id }) => {
      await client.invalidateQueries({ queryKey: ["apps", orgId] });
      await openDeployment(id, 1);
    },
  });
}
