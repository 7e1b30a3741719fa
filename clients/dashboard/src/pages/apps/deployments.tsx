import { useInfiniteQuery } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { Panel } from "../../ui/panel.tsx";
import { QueryContent } from "../../ui/query-content.tsx";
import { useApp } from "./app-context.ts";
import { DeploymentList } from "./deployment-list.tsx";

/** All deployments of an app. */
export function DeploymentsTab() {
  const { id: orgId, api } = useOrganization();
  const { id } = useApp();
  const deployments = useInfiniteQuery({
    queryKey: ["app", orgId, id, "all-deployments"],
    queryFn: ({ pageParam }) => api.deployments.list.query(pageParam === null ? { id } : { id, cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
    select: ({ pages }) => pages.flatMap((page) => page.deployments),
  });
  return (
    <Panel title="Deployments">
      <QueryContent query={deployments}>{(list) => <DeploymentList appId={id} deployments={list} />}</QueryContent>
      {deployments.hasNextPage && (
        <Button busy={deployments.isFetchingNextPage} onClick={() => void deployments.fetchNextPage()}>
          Load older deployments
        </Button>
      )}
    </Panel>
  );
}
