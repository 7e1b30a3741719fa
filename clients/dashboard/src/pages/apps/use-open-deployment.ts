import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useOrganization } from "../../organization.ts";

/** Returns what opens the page of a deployment that was just started. */
export function useOpenDeployment(): (appId: string, number: number) => Promise<void> {
  const { id: orgId } = useOrganization();
  const client = useQueryClient();
  const navigate = useNavigate();
  return async (id, number) => {
    await client.invalidateQueries({ queryKey: ["app", orgId, id] });
    await navigate({
      to: "/apps/$id/deployments/$number",
      params: { id, number: String(number) },
      search: { org: orgId },
    });
  };
}
