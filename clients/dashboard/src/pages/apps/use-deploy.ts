import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { Api } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import type { UploadedSource } from "./uploaded-source.ts";
import { useOpenDeployment } from "./use-open-deployment.ts";
import { useUploadSource } from "./use-upload-source.ts";

type DeployRequest = Parameters<Api["apps"]["deploy"]["mutate"]>[0];

interface Deploy {
  request: DeployRequest;
  /** Files that are uploaded before, as the source of the app. */
  source?: UploadedSource;
}

/** Deploys a new app, and opens the page of its first deployment. */
export function useDeploy() {
  const { id: orgId, api } = useOrganization();
  const client = useQueryClient();
  const upload = useUploadSource();
  const openDeployment = useOpenDeployment();
  return useMutation({
    mutationFn: async ({ request, source }: Deploy) => {
      const archive = await upload(source);
      return api.apps.deploy.mutate({ ...request, ...archive });
    },
    onSuccess: async ({ app_id: id }) => {
      await client.invalidateQueries({ queryKey: ["apps", orgId] });
      await openDeployment(id, 1);
    },
  });
}
