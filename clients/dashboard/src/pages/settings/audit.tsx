import { useInfiniteQuery } from "@tanstack/react-query";
import { useOrganization } from "../../organization.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNotice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/panel.tsx";
import { PageTitle } from "../../ui/page-layout.tsx";
import { Cell, Table } from "../../ui/table.tsx";
import { Timestamp } from "../../ui/timestamp.tsx";

export function AuditPage() {
  const { id: orgId, api } = useOrganization();
  const events = useInfiniteQuery({
    queryKey: ["audit", orgId],
    queryFn: ({ pageParam }) => api.audit.list.query(pageParam === null ? {} : { cursor: pageParam }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });
  const allEvents = events.data?.pages.flatMap((page) => page.events) ?? [];
  return (
    <>
      <PageTitle>Audit log</PageTitle>
      <Panel title="Events" intro="Newest first. Only owners can see the audit log.">
        <ErrorNotice error={events.error} />
        {allEvents.length > 0 && (
          <Table caption="Audit log" columns={["Time", "Action", "Outcome", "Actor", "Target", "Address"]}>
            {allEvents.map(({ id, created_at, action, outcome, user_id, credential_kind, target, address }) => (
              <tr key={id}>
                <Cell>
                  <Timestamp at={created_at} />
                </Cell>
                <Cell>{action}</Cell>
                <Cell>{outcome}</Cell>
                <Cell>{user_id ?? credential_kind ?? "unknown"}</Cell>
                <Cell>{target}</Cell>
                <Cell>{address}</Cell>
              </tr>
            ))}
          </Table>
        )}
        {events.hasNextPage && (
          <Button busy={events.isFetchingNextPage} onClick={() => void events.fetchNextPage()}>
            Load older events
          </Button>
        )}
      </Panel>
    </>
  );
}
